// The client for GeoBucket: everything that it exports.
export { connect } from "./connect.js";
export { Database } from "./database.js";
export { Bucket } from "./bucket.js";
export { Query, descending } from "./query.js";
export { Watch } from "./watch.js";
export {
  all, along, and, between, box, contains, eq, gt, gte, hasField, holds, inside, intersects, isIn, like, lt, lte, match,
  ne, near, not, or, prefix, range, raw, within,
} from "./clauses.js";
export { avg, count, group, max, min, sum } from "./figures.js";
export { objectAt, point } from "./values.js";
export {
  Conflict, Disconnected, Forbidden, GeoBucketError, InvalidInput, NotFound, ProtocolError, Timeout, TooManyRequests,
  Unauthorized, Unavailable,
} from "./errors.js";
