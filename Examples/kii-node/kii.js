#!/usr/bin/env node
// A client of Kii's REST interface, without packages: kii.js URL APP [KEY] [TOKEN].
"use strict";
const crypto = require("crypto");
const http = require("http");
const https = require("https");

/** What the service refused: `status`, `code` such as OBJECT_VERSION_IS_STALE, `path`. */
class KiiError extends Error {
  constructor(status, body) {
    super(`${body.errorCode}: ${body.message}`);
    Object.assign(this, { status, code: body.errorCode, path: body.path });
  }
}

/** An application at an address. A token is what a user of Kii's logged in with. */
class Kii {
  constructor(url, app, key, token) {
    this.app = app;
    this.root = `${url.replace(/\/$/, "")}/api/apps/${app}`;
    this.headers = { "x-kii-appid": app, "x-kii-sdk": "sn=node;sv=1" };
    if (key) this.headers["x-kii-appkey"] = key;
    if (token) this.headers.authorization = `Bearer ${token}`;
  }

  /** The body of an answer, and its ETag. */
  call(method, path, body, headers = {}) {
    const fields = { ...this.headers, ...headers };
    const text = body === undefined ? undefined : JSON.stringify(body);
    if (text !== undefined) {
      fields["content-type"] ??= "application/json";
      fields["content-length"] = Buffer.byteLength(text);
    }
    return new Promise((resolve, reject) => {
      const library = this.root.startsWith("https:") ? https : http;
      const request = library.request(this.root + path, { method, headers: fields }, (answer) => {
        const parts = [];
        answer.on("data", (part) => parts.push(part));
        answer.on("error", reject);
        answer.on("end", () => {
          const content = parts.length ? JSON.parse(Buffer.concat(parts)) : undefined;
          if (content && content.errorCode) reject(new KiiError(answer.statusCode, content));
          else resolve({ content, version: answer.headers.etag });
        });
      });
      request.on("error", reject);
      request.end(text);
    });
  }

  /** A bucket of the application, or of a scope such as users/me. */
  bucket(name, scope) {
    return new Bucket(this, `${scope ? "/" + scope : ""}/buckets/${name}`);
  }

  async user() {
    return (await this.call("GET", "/users/me")).content.userID;
  }
}

class Bucket {
  constructor(kii, path) {
    Object.assign(this, { kii, path });
  }

  /** A new object; `kind` is the {type} of its data type. */
  async create(fields, kind) {
    const type = kind ? `application/vnd.${this.kii.app}.${kind}+json` : "application/json";
    const made = await this.kii.call("POST", `${this.path}/objects`, fields, { "content-type": type });
    return new KiiObject(this, made.content.objectID, fields, made.version);
  }

  object(id, version) {
    return new KiiObject(this, id, {}, version);
  }

  ask(request) {
    return this.kii.call("POST", `${this.path}/query`, request, {
      "content-type": "application/vnd.kii.QueryRequest+json",
    });
  }

  /** All objects that match, page by page. */
  async *query(clause, { orderBy, descending = false, limit } = {}) {
    const request = { bucketQuery: { clause, orderBy, descending }, bestEffortLimit: limit };
    do {
      const { content: page } = await this.ask(request);
      yield* page.results;
      request.paginationKey = page.nextPaginationKey;
    } while (request.paginationKey);
  }

  async count(clause) {
    const aggregations = [{ type: "COUNT", putAggregationInto: "count_field" }];
    return (await this.ask({ bucketQuery: { clause, aggregations } })).content.aggregations.count_field;
  }

  delete() {
    return this.kii.call("DELETE", this.path);
  }
}

/** An object as it was when it was last saved or read. */
class KiiObject {
  constructor(bucket, id, fields, version) {
    Object.assign(this, { bucket, id, fields, version });
    this.path = `${bucket.path}/objects/${id}`;
  }

  async refresh() {
    const { content, version } = await this.bucket.kii.call("GET", this.path);
    return Object.assign(this, { fields: content, version });
  }

  /** Merges fields into the object; unless it overwrites, only if nobody else has changed it. */
  async save(changes, { overwrite = false } = {}) {
    const headers = { "x-http-method-override": "PATCH" };
    if (!overwrite && this.version) headers["if-match"] = this.version;
    const { content, version } = await this.bucket.kii.call("POST", this.path, changes, headers);
    return Object.assign(this, { fields: content, version });
  }

  async replace(fields, { onlyNew = false } = {}) {
    const headers = onlyNew ? { "if-none-match": "*" } : {};
    const { version } = await this.bucket.kii.call("PUT", this.path, fields, headers);
    return Object.assign(this, { fields, version });
  }

  delete() {
    const headers = this.version ? { "if-match": this.version } : {};
    return this.bucket.kii.call("DELETE", this.path, undefined, headers);
  }
}

const point = (lat, lon) => ({ _type: "point", lat, lon });

async function refusal(body) {
  try {
    await body();
    return "done";
  } catch (error) {
    if (!(error instanceof KiiError)) throw error;
    return `${error.status} ${error.code}`;
  }
}

async function main(url, app, key, token) {
  const kii = new Kii(url, app, key, token);
  // A bucket that nobody has, because the end deletes it.
  const shops = kii.bucket(`example-${crypto.randomUUID()}`);
  const tower = await shops.create({ name: "Tower", open: true, at: point(35.6586, 139.7454) }, "shop");
  const station = { name: "Station", open: true, at: point(35.6812, 139.7671) };
  await shops.object("station").replace(station, { onlyNew: true });
  for (let n = 0; n < 5; n++) {
    await shops.create({ name: `Kiosk ${n}`, open: false, at: point(35.7 + n / 100, 139.7) });
  }

  const stale = shops.object(tower.id, tower.version);
  await tower.save({ seats: 20, closed: null });
  console.log("saved", tower.version, tower.fields.seats, tower.fields.closed);
  console.log("an older version:", await refusal(() => stale.save({ seats: 1 })));
  console.log("an id that exists:", await refusal(() => shops.object("station").replace({}, { onlyNew: true })));

  const near = { type: "geodistance", field: "at", center: point(35.66, 139.75), radius: 10000, putDistanceInto: "d" };
  for await (const shop of shops.query(near, { orderBy: "_calculated.d", limit: 2 })) {
    console.log(shop.name, Math.round(shop._calculated.d), shop._version);
  }
  console.log("open:", await shops.count({ type: "eq", field: "open", value: true }));
  console.log("a point off the earth:", await refusal(() => shops.create({ at: point(91, 0) })));

  await shops.object("station").delete();
  console.log("after a delete:", await refusal(() => shops.object("station").refresh()));
  if (token) {
    const notes = kii.bucket(`example-${crypto.randomUUID()}`, "users/me");
    const note = await (await notes.create({ text: "mine" })).refresh();
    console.log(await kii.user(), "owns", note.fields.text, note.fields._owner);
    await notes.delete();
  }
  await shops.delete();
  console.log("left:", await shops.count({ type: "all" }));
}

if (process.argv.length < 4 || process.argv.length > 6) {
  console.error("usage: kii.js URL APP [KEY] [TOKEN], such as kii.js http://127.0.0.1:4364 shop");
  process.exitCode = 1;
} else {
  main(...process.argv.slice(2)).catch((error) => {
    console.error(error);
    process.exitCode = 1;
  });
}
