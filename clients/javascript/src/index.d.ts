// The types of the package. docs/javascript.md of the repository describes it.

// Values

/** A value of JSON; with the option `bigint`, whole numbers that a number would round are bigints. */
export type JSONValue = string | number | bigint | boolean | null | JSONValue[] | { [name: string]: JSONValue };

/** A place on the earth: degrees, WGS 84. */
export interface GeoPoint {
  _type: "point";
  lat: number;
  lon: number;
}

/** What the service writes into each object. Times are milliseconds since 1970. */
export interface Predefined {
  _id: string;
  _created: number;
  _modified: number;
  _version: number;
  _owner?: string;
  _dataType?: string;
  _expiresAt?: number;
}

/** An object as it is stored, with the distances that clauses report. */
export type Stored<T = Record<string, any>> = T & Predefined & { _calculated?: Record<string, number> };

/** The answer to a write. `written` is false if `ifNewer` said so; `change` is told by the nodes of a cluster. */
export interface Written {
  _id: string;
  _version: number;
  _created?: number;
  _modified?: number;
  written?: false;
  change?: number;
}

export function point(lat: number, lon: number): GeoPoint;

/** The place of an object that moves, as a centre in watches. */
export interface ObjectPlace {
  _type: "object";
  bucket: string;
  _id: string;
  field: string;
}

export function objectAt(bucket: string, id: string, field: string): ObjectPlace;

/** `[latitude, longitude]`, or an object that has them. */
export type Place =
  | GeoPoint
  | readonly [latitude: number, longitude: number]
  | { lat: number; lon: number }
  | { lat: number; lng: number };

/** `[longitude, latitude]`, as GeoJSON has it. */
export type Position = readonly number[];

export interface Geometry {
  type: string;
  coordinates: unknown;
}

// Connecting

/** Times are milliseconds. */
export interface ConnectOptions {
  /** What the service knows the client by, or what returns it; a function is asked anew when the service says so. */
  token?: string | (() => string | Promise<string>);
  /** For `geobuckets://`: what Node's `tls.connect` takes, such as `ca`, `cert` and `key`. */
  tls?: { ca?: any; cert?: any; key?: any; servername?: string; rejectUnauthorized?: boolean; [option: string]: any };
  /** Whole numbers beyond 2^53 are read as bigints. */
  bigint?: boolean;
  /** Whether writes have keys, so that they can be repeated: true unless it is false. */
  requestKeys?: boolean;
  /** Until a connection is open, TLS and login included: 10 s. */
  connectTimeout?: number;
  /** For one call with all its attempts: 30 s. */
  requestTimeout?: number;
  /** The pauses between attempts, which double from the first to the longest: 50 ms, 2 s. */
  firstPause?: number;
  longestPause?: number;
  /** After so long a silence a watch asks whether the service is there: 45 s. */
  watchCheckTime?: number;
  /** Calls that wait at once, 10,000, and the characters of their lines, 64 Mi; more are refused. */
  waitingCalls?: number;
  waitingCharacters?: number;
  /** Calls on the connection at once: 1,000; more wait. */
  pipelinedCalls?: number;
  /** Requests over HTTP at once: 6; more wait. */
  parallelRequests?: number;
  /** The characters of one answer: 64 Mi. */
  answerCharacters?: number;
  /** Instead of the global `fetch`. */
  fetch?: (url: string, request: any) => Promise<any>;
  /** Ends the attempt to connect. */
  signal?: AbortSignal;
}

export function connect(addresses: string | readonly string[], options?: ConnectOptions): Promise<Database>;

/** Options of every call. */
export interface CallOptions {
  signal?: AbortSignal;
  /** Milliseconds for the call with all its attempts. */
  timeout?: number;
}

export interface ReadOptions extends CallOptions {
  /** Waits until the node has this change; see "Reading what was written" in docs/protocol.md. */
  atLeast?: number;
}

export interface WriteOptions extends CallOptions {
  /** The key of the write, in place of one that the client makes. */
  requestKey?: string;
}

export class Database {
  private constructor();
  /** A bucket by its name, such as `shops` or `users/alice/notes`. Nothing is sent. */
  bucket<T = Record<string, any>>(name: string): Bucket<T>;
  /** The buckets of a scope, or of the application. */
  buckets(options?: { scope?: string } & CallOptions): AsyncIterableIterator<BucketInfo>;
  /** The result of any method of the protocol. */
  call(method: string, params?: Record<string, any>, options?: CallOptions): Promise<any>;
  ping(options?: CallOptions): Promise<"pong">;
  info(options?: CallOptions): Promise<any>;
  /** Ends the connection. Calls and watches fail with code CLOSED. */
  close(): void;
}

export interface BucketInfo {
  bucket: string;
  objects: number;
  geoFields: string[];
  place?: string;
}

// Buckets

export class Bucket<T = Record<string, any>> {
  private constructor();
  readonly name: string;
  find(...clauses: Clause[]): Query<T>;
  get(id: string, options?: ReadOptions): Promise<Stored<T>>;
  create(object: T, options?: { dataType?: string; expiresAt?: number | Date } & WriteOptions): Promise<Written>;
  put(id: string, object: T, options?: PutOptions): Promise<Written>;
  patch(
    id: string, object: Patch<T>, options: PatchOptions & { returnObject: true },
  ): Promise<Written & { object: Stored<T> }>;
  patch(id: string, object: Patch<T>, options?: PatchOptions): Promise<Written>;
  delete(id: string, options?: { ifVersion?: number } & WriteOptions): Promise<void>;
  putMany(
    objects: Iterable<T & { _id?: string }> | AsyncIterable<T & { _id?: string }>, options?: PutManyOptions,
  ): Promise<{ written: number; skipped: number }>;
  count(...clauses: Clause[]): Promise<number>;
  drop(options?: WriteOptions): Promise<number>;
  fields(options?: ReadOptions): Promise<FieldTypes>;
  export(options?: CallOptions): AsyncIterableIterator<Stored<T>>;
}

/** Members to change; null removes one. */
export type Patch<T> = { [K in keyof T]?: T[K] extends object ? Patch<T[K]> | T[K] | null : T[K] | null };

export interface PutOptions extends WriteOptions {
  ifVersion?: number;
  ifAbsent?: boolean;
  ifNewer?: string;
  dataType?: string;
  expiresAt?: number | Date;
}

export interface PatchOptions extends WriteOptions {
  ifVersion?: number;
  ifNewer?: string;
  expiresAt?: number | Date | null;
  storeNulls?: boolean;
  returnObject?: boolean;
}

export interface PutManyOptions extends CallOptions {
  ifNewer?: string;
  expiresAt?: number | Date;
  withMetadata?: boolean;
  /** Bytes of the objects of one batch, 500,000, and their number, 10,000. */
  batchBytes?: number;
  batchObjects?: number;
  /** Batches that are under way at once: 4. */
  parallelBatches?: number;
  /** Called after each batch with what has been done so far, and the results of the batch. */
  onProgress?: (progress: { written: number; skipped: number; bytes: number; results: Written[] }) => void;
}

export interface FieldTypes {
  objects: number;
  sampled: number;
  fields: { field: string; types: Record<string, number>; wide?: number }[];
  omitted?: number;
}

// Queries

/** A condition; made by the functions below. */
export interface Clause {
  type: string;
  [member: string]: any;
}

export interface OrderKey {
  field: string;
  descending?: boolean;
}

export class Query<T = Record<string, any>> implements AsyncIterable<Stored<T>> {
  private constructor();
  where(...clauses: Clause[]): Query<T>;
  orderBy(...keys: (string | OrderKey)[]): Query<T>;
  nearest(): Query<T>;
  limit(count: number): Query<T>;
  pageSize(count: number): Query<T>;
  fields(...names: string[]): Query<T>;
  readonly order: OrderKey[];
  readonly bucketQuery: { clause?: Clause; orderBy?: OrderKey[] } | undefined;
  [Symbol.asyncIterator](): AsyncIterableIterator<Stored<T>>;
  objects(options?: ReadOptions): AsyncIterableIterator<Stored<T>>;
  toArray(options?: ReadOptions): Promise<Stored<T>[]>;
  first(options?: ReadOptions): Promise<Stored<T> | undefined>;
  page(options?: { key?: string; hints?: boolean } & ReadOptions): Promise<Page<T>>;
  count(options?: ReadOptions): Promise<number>;
  explain(options?: { analyze?: boolean } & ReadOptions): Promise<any>;
  aggregate<F extends Record<string, Figure<any>>>(
    figures: F, options?: ReadOptions,
  ): Promise<{ [N in keyof F]: F[N] extends Figure<infer R> ? R : never }>;
  clusters(options: ClusterOptions & ReadOptions): Promise<Clusters<T>>;
  delete(options?: { dryRun?: boolean } & WriteOptions): Promise<number>;
  watch(options?: WatchOptions): Watch<WatchState<T>>;
  watchPairs(
    others: Query<any>,
    options: { field: string; radius: number; leaveRadius?: number; resume?: string; signal?: AbortSignal },
  ): Watch<PairState>;
  watchParams(): { bucketQuery?: object; bestEffortLimit?: number; fields?: string[] };
}

export interface Page<T> {
  objects: Stored<T>[];
  /** Given if there is another page. */
  nextKey?: string;
  description: string;
  hints?: { code: string; message: string; nearest?: string }[];
}

export function descending(field: string): OrderKey;

/** A figure of all objects, whose result is an R. */
export interface Figure<R> {
  type: string;
  field?: string;
  limit?: number;
  /** Only in the type. */
  readonly result?: R;
}

export interface Groups {
  values: { value: string | number | boolean; count: number }[];
  other: number;
  without: number;
}

export function count(): Figure<number>;
export function group(field: string, limit?: number): Figure<Groups>;
export function min(field: string): Figure<number | null>;
export function max(field: string): Figure<number | null>;
export function sum(field: string): Figure<number | null>;
export function avg(field: string): Figure<number | null>;

export interface ClusterOptions {
  zoom?: number;
  box?: readonly [southWest: Place, northEast: Place];
  tile?: string;
  field?: string;
  bits?: number;
  objects?: number;
  ifState?: string;
}

export interface Clusters<T> {
  change: number;
  total: number;
  state?: string;
  clusters: { cell: string; count: number; center?: GeoPoint; object?: Stored<T>; places?: GeoPoint[] }[];
}

// Clauses

export type Value = string | number | bigint | boolean | null | GeoPoint;
export type FieldType =
  | "STRING" | "INTEGER" | "DECIMAL" | "BOOLEAN" | "GEOPOINT" | "GEOSHAPE" | "ARRAY" | "OBJECT" | "NULL";
type Limit = string | number | bigint;

export function all(): Clause;
export function eq(field: string, value: Value): Clause;
export function ne(field: string, value: Value): Clause;
export function range(field: string, limits: { from?: Limit; above?: Limit; through?: Limit; below?: Limit }): Clause;
export function gt(field: string, value: Limit): Clause;
export function gte(field: string, value: Limit): Clause;
export function lt(field: string, value: Limit): Clause;
export function lte(field: string, value: Limit): Clause;
export function between(field: string, from: Limit, through: Limit): Clause;
export function prefix(field: string, text: string): Clause;
export function like(field: string, pattern: string, options?: { ignoreCase?: boolean }): Clause;
export function isIn(field: string, values: Iterable<Value>): Clause;
export function hasField(field: string, fieldType?: FieldType): Clause;
export function contains(field: string, value: Value): Clause;
export function near(
  field: string, center: Place | ObjectPlace, radius?: number, into?: string, options?: { model?: "sphere" | "wgs84" },
): Clause;
export function box(field: string, southWest: Place, northEast: Place): Clause;
export function within(field: string, polygon: Geometry | { geometry: Geometry } | readonly Position[]): Clause;
export function along(
  field: string, line: Geometry | { geometry: Geometry } | readonly Position[], width: number,
  options?: { distanceInto?: string; alongInto?: string },
): Clause;
export function intersects(field: string, shape: object): Clause;
export function inside(field: string, shape: object): Clause;
export function holds(field: string, shape: object): Clause;
export function match(
  fields: string | readonly string[], text: string, options?: { prefix?: boolean; typos?: number },
): Clause;
export function and(...clauses: Clause[]): Clause;
export function or(...clauses: Clause[]): Clause;
export function not(clause: Clause): Clause;
export function raw(json: string | object): Clause;

// Watches

export interface WatchOptions {
  /** Objects enter within the radius of the query, and leave beyond this one. */
  leaveRadius?: number;
  /** Of a ranking: at most one state in so many milliseconds. */
  interval?: number;
  /** Goes on from a state of an earlier run. */
  resume?: string;
  /** Ends the watch, with its reason. */
  signal?: AbortSignal;
}

export class Watch<S> implements AsyncIterable<S> {
  private constructor();
  [Symbol.asyncIterator](): AsyncIterableIterator<S>;
  close(): Promise<void>;
  move(query: Query<any>, options?: { signal?: AbortSignal }): Promise<number>;
  sync(options?: { signal?: AbortSignal }): Promise<number>;
}

interface AnyState {
  /** The number of the change whose state this is. */
  change: number;
  /** With which a later watch goes on from here. */
  resume: string;
  /** Whether the service has told everything; the events are the difference. */
  isSnapshot: boolean;
  /** False after a start with `resume`, until a snapshot comes. */
  isComplete: boolean;
  /** False while the connection is lost. */
  isConnected: boolean;
  /** Whether the object at a moving centre is gone. */
  centerIsMissing: boolean;
}

export interface WatchState<T = Record<string, any>> extends AnyState {
  /** What matches, by id, in the order of the query if it has one. It changes with the next state. */
  objects: ReadonlyMap<string, Stored<T>>;
  /** What has happened since the last state. */
  events: WatchEvent<T>[];
}

export type WatchEvent<T = Record<string, any>> =
  | {
    event: "enter" | "change"; id: string; object: Stored<T>; previous?: Stored<T>; change: number;
    /** The place in a ranking, and the one before. */
    index?: number; from?: number;
  }
  | { event: "leave"; id: string; previous?: Stored<T>; reason: LeaveReason; change: number };

/** `unseen`: it left while the watch could not follow. */
export type LeaveReason = "moved" | "changed" | "deleted" | "expired" | "query" | "unseen";

export interface PairState extends AnyState {
  /** Who is near whom, by both ids with a `/` between them. */
  pairs: ReadonlyMap<string, { ids: [string, string]; distance: number }>;
  events: PairEvent[];
}

export type PairEvent =
  | { event: "meet"; ids: [string, string]; distance: number; change: number }
  | { event: "part"; ids: [string, string]; reason: LeaveReason; change: number };

// Failures

export class GeoBucketError extends Error {
  /** The service's `errorCode`, or TIMEOUT, DISCONNECTED, UNREACHABLE, CLOSED, PROTOCOL, TOO_MANY_WAIT. */
  readonly code: string;
  /** The member of the params at fault. */
  readonly path?: string;
  /** Milliseconds to wait before the next try. */
  readonly retryAfter?: number;
  /** Under which the service's log has the reason of a fault of its own. */
  readonly requestId?: string;
  readonly cause?: unknown;
}
export class InvalidInput extends GeoBucketError {}
export class Unauthorized extends GeoBucketError {}
export class Forbidden extends GeoBucketError {}
export class NotFound extends GeoBucketError {}
export class Conflict extends GeoBucketError {}
export class TooManyRequests extends GeoBucketError {}
export class Timeout extends GeoBucketError {}
export class Unavailable extends GeoBucketError {}
export class Disconnected extends Unavailable {}
export class ProtocolError extends GeoBucketError {}
