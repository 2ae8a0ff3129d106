// Why a call failed, by class and by code.

/**
 * A failure. `code` is the service's `errorCode`, such as OBJECT_NOT_FOUND, or one of the client's own: TIMEOUT,
 * DISCONNECTED, CLOSED, PROTOCOL. `path` names the member of the params at fault.
 */
export class GeoBucketError extends Error {
  constructor(message, { code = "UNDEFINED_ERROR", path, retryAfter, requestId, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    if (path !== undefined) this.path = path;
    /** Milliseconds to wait before the next try, where the service says so. */
    if (retryAfter !== undefined) this.retryAfter = retryAfter;
    /** Under which the service's log has the reason of a fault of its own. */
    if (requestId !== undefined) this.requestId = requestId;
  }
}

/** The request is not valid. */
export class InvalidInput extends GeoBucketError {
  constructor(message, details) {
    super(message, typeof details === "object" ? details : { code: "INVALID_INPUT_DATA", path: details });
  }
}
/** A login is needed, or the token is not valid. */
export class Unauthorized extends GeoBucketError {}
/** The role or the scope of the token does not permit it. */
export class Forbidden extends GeoBucketError {}
/** There is no such object or bucket. */
export class NotFound extends GeoBucketError {}
/** Another version is there, or the object exists. */
export class Conflict extends GeoBucketError {}
/** A limit of the service or of this client; it was not begun. */
export class TooManyRequests extends GeoBucketError {}
/** No answer came in the time that the call may take; a write may have been done. */
export class Timeout extends GeoBucketError {}
/** The service cannot do it now. */
export class Unavailable extends GeoBucketError {}
/** The connection was lost; a write may have been done. */
export class Disconnected extends Unavailable {
  constructor(message, details = {}) {
    super(message, { code: "DISCONNECTED", ...details });
  }
}
/** What the service sent is not of the protocol. */
export class ProtocolError extends GeoBucketError {
  constructor(message, details = {}) {
    super(message, { code: "PROTOCOL", ...details });
  }
}

const CLASSES = {
  LINE_TOO_LONG: InvalidInput,
  INVALID_INPUT_DATA: InvalidInput, QUERY_NOT_SUPPORTED: InvalidInput,
  INVALID_BUCKET: InvalidInput, INVALID_OBJECT_ID: InvalidInput, OBJECT_TOO_LARGE: InvalidInput,
  UNAUTHORIZED: Unauthorized, WRONG_TOKEN: Unauthorized, OPERATION_NOT_ALLOWED: Forbidden,
  OBJECT_NOT_FOUND: NotFound, BUCKET_NOT_FOUND: NotFound,
  OBJECT_VERSION_IS_STALE: Conflict, OBJECT_ALREADY_EXISTS: Conflict,
  TOO_MANY_REQUESTS: TooManyRequests, QUERY_TIMEOUT: Unavailable,
  TEMPORARY_UNAVAILABLE_ERROR: Unavailable, STORE_FULL: Unavailable,
};

/** The failure that an error of the service is, as JSON-RPC has it. */
export function failureOf({ message = "the service refused", data = {} }) {
  const { errorCode: code, path, retryAfterMillis: retryAfter, requestId } = data ?? {};
  return new (CLASSES[code] ?? GeoBucketError)(message, { code, path, retryAfter, requestId });
}
