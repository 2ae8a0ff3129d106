// What may be sent again and when, and how much may wait.
import { Disconnected, TooManyRequests } from "./errors.js";

const READS = new Set([
  "rpc.discover", "server.info", "server.ping", "server.route", "server.stats", "server.activity", "store.check",
  "bucket.list", "bucket.count", "bucket.query", "bucket.explain", "bucket.clusters", "bucket.fields", "object.get",
]);
/** Whether a method may be sent again although it may have been done, without a key. */
export const isRead = (method, params) => READS.has(method) || params.dryRun === true;

/** Whether a write with these params can be remembered by a key. */
export const takesKey = ({ dryRun, returnObject }) => !dryRun && !returnObject;

/** How long to wait, and how much. Times are milliseconds. */
export const DEFAULTS = {
  /** Until a connection is open, TLS and login included. */
  connectTimeout: 10_000,
  /** For one call with all its attempts. */
  requestTimeout: 30_000,
  /** The pause before the first attempt, which doubles up to the longest; half of each is random. */
  firstPause: 50,
  longestPause: 2_000,
  /** After so long a silence a watch asks whether the service is still there. */
  watchCheckTime: 45_000,
  /** Calls that wait at once, and the characters of their lines; more are refused. */
  waitingCalls: 10_000,
  waitingCharacters: 64 << 20,
  /** Calls on the connection at once; more wait. */
  pipelinedCalls: 1_000,
  /** The characters of one answer. */
  answerCharacters: 64 << 20,
  /** Requests at once over HTTP; more wait. */
  parallelRequests: 6,
};

/** Milliseconds before the attempt that follows so many failed ones. */
export function pause({ firstPause, longestPause }, failures, random = Math.random) {
  return Math.min(longestPause, firstPause * 2 ** failures) * (0.5 + random() / 2);
}

/**
 * Whether a call that failed so is to be tried again. TOO_MANY_REQUESTS was not begun; after the others it may have
 * been done.
 */
export function isPassing(error, mayRepeat) {
  if (error instanceof TooManyRequests) return true;
  return mayRepeat && (error.code === "TEMPORARY_UNAVAILABLE_ERROR" || error instanceof Disconnected);
}
