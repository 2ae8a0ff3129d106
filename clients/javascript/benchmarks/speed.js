// How fast the client is: calls of 64 tasks that share a connection, and putMany.
//
//     GEOBUCKET=.build/release/geobucket node clients/javascript/benchmarks/speed.js [OBJECTS] [SECONDS]
import { connect, near, point } from "../src/index.js";
import { Program } from "../test/support/program.js";

const [objects, seconds] = [Number(process.argv[2] ?? 200_000), Number(process.argv[3] ?? 5)];
const TASKS = 64;

/** Repeatable chance, from 0 to 1. */
let seed = 1;
const chance = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
const place = () => [35.5 + chance() * 0.4, 139.5 + chance() * 0.5];

function* shops() {
  for (let number = 0; number < objects; number += 1) {
    const [lat, lon] = place();
    yield {
      _id: `shop-${number}`, name: `Shop ${number}`, kind: ["ramen", "cafe", "bar"][number % 3], open: chance() < 0.7,
      rating: Math.round(chance() * 50) / 10, location: point(lat, lon),
    };
  }
}

/** Runs something that returns how often it was done, and says how fast that was, and what processor time it took. */
async function measure(what, action) {
  const [began, used, served] = [performance.now(), process.cpuUsage(), await serviceSeconds()];
  const count = await action();
  const time = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(used);
  const [client, server] = [(user + system) / count, ((await serviceSeconds()) - served) * 1e6 / count];
  const rate = Math.round(count / time).toLocaleString("en");
  console.log(`${what}: ${rate}/s; µs of processor time each: client ${client.toFixed(1)}, service ${server.toFixed(1)}`);
}

const serviceSeconds = async () => (await db.call("server.stats")).cpuSeconds;

const concurrently = (ask) => async () => {
  const end = performance.now() + seconds * 1000;
  let count = 0;
  await Promise.all(Array.from({ length: TASKS }, async () => {
    for (; performance.now() < end; count += 1) await ask();
  }));
  return count;
};

const service = await Program.started();
const db = await connect(service.lines);
const bucket = db.bucket("shops");
await measure("putMany", async () => (await bucket.putMany(shops())).written);
const whole = Array.from({ length: 1000 }, () => bucket.find(near("location", place(), undefined, "d")).nearest().limit(10));
const ids = whole.map((query) => query.fields());
const pick = (queries) => queries[Math.floor(chance() * queries.length)];
await measure("10 nearest, ids and distances, 64 tasks", concurrently(() => pick(ids).page()));
await measure("10 nearest, whole objects, 64 tasks", concurrently(() => pick(whole).page()));
await measure("get, 64 tasks", concurrently(() => bucket.get(`shop-${Math.floor(chance() * objects)}`)));
db.close();
await service.end();
