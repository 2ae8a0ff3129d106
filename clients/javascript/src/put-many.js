// Many objects in batches that a line has room for.
import { stringify } from "./json.js";
import { milliseconds } from "./values.js";

const encoder = new TextEncoder();

/** Batches of JSON texts: `{texts, bytes}`. */
async function* batches(objects, { batchBytes, batchObjects }) {
  let [texts, bytes, index] = [[], 0, 0];
  for await (const object of objects) {
    const text = stringify(object, `objects[${index++}]`);
    const length = encoder.encode(text).length + 1;
    if (texts.length > 0 && (bytes + length > batchBytes || texts.length >= batchObjects)) {
      yield { texts, bytes };
      [texts, bytes] = [[], 0];
    }
    texts.push(text);
    bytes += length;
  }
  if (texts.length > 0) yield { texts, bytes };
}

/**
 * Writes what an iterable, or an async one, has. Some batches are under way at once. The first failure ends it; what
 * was under way then may have been written.
 * @returns `{written, skipped}`: how many objects were, and how many were not because of `ifNewer`.
 */
export async function putMany(service, bucket, objects, options = {}) {
  const {
    batchBytes = 500_000, batchObjects = 10_000, parallelBatches = 4, onProgress,
    signal, timeout, ifNewer, expiresAt, withMetadata,
  } = options;
  const params = { bucket, ifNewer, withMetadata, expiresAt: milliseconds(expiresAt) };
  const progress = { written: 0, skipped: 0, bytes: 0 };
  const underWay = new Set();
  let failure;

  async function write({ texts, bytes }) {
    const results = (await service.putMany(texts, params, { signal, timeout })).objects;
    const skipped = results.filter(({ written }) => written === false).length;
    progress.written += results.length - skipped;
    progress.skipped += skipped;
    progress.bytes += bytes;
    onProgress?.({ ...progress, results });
  }

  for await (const batch of batches(objects, { batchBytes, batchObjects })) {
    const task = write(batch).catch((error) => { failure ??= { error }; }).finally(() => underWay.delete(task));
    underWay.add(task);
    if (underWay.size >= parallelBatches) await Promise.race(underWay);
    if (failure) break;
  }
  await Promise.all(underWay);
  if (failure) throw failure.error;
  return { written: progress.written, skipped: progress.skipped };
}
