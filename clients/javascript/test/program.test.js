// The client against the real program, over lines and over HTTP.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import * as geobucket from "../src/index.js";
import {
  Conflict, InvalidInput, NotFound, Unauthorized, along, and, avg, between, box, connect, contains, count, descending, eq,
  group, hasField, isIn, like, lt, max, near, ne, not, objectAt, or, point, prefix, raw, sum, within,
} from "../src/index.js";
import { Program, noProgram } from "./support/program.js";

const TOKYO = [35.6812, 139.7671];
const shop = (n, more) => ({ name: `Shop ${n}`, n, open: n % 2 === 0, location: point(35.68 + n / 1000, 139.76), ...more });

for (const kind of ["lines", "web"]) {
  describe(`over ${kind}`, { skip: noProgram }, () => {
    let service, db;
    before(async () => {
      service = await Program.started();
      db = await connect(service[kind]);
    });
    after(async () => {
      db.close();
      await service.end();
    });

    test("objects are written, read, changed and deleted", async () => {
      const shops = db.bucket("things/t1/shops");
      const first = await shops.put("s1", shop(1), { ifAbsent: true, dataType: "shop", expiresAt: new Date(Date.now() + 60_000) });
      assert.equal(first._version, 1);
      await assert.rejects(shops.put("s1", shop(1), { ifAbsent: true }), Conflict);
      assert.deepEqual((await shops.get("s1")).location, point(35.681, 139.76));
      assert.equal((await shops.patch("s1", { open: null, more: { a: 1 } }))._version, 2);
      assert.deepEqual((await shops.patch("s1", { more: { b: 2 } }, { returnObject: true })).object.more, { a: 1, b: 2 });
      assert.equal((await shops.put("s1", { n: 0 }, { ifNewer: "n" })).written, false);
      const { _id } = await shops.create({ name: "New" });
      await shops.delete(_id, { ifVersion: 1 });
      await assert.rejects(shops.get(_id), (error) => error instanceof NotFound && error.code === "OBJECT_NOT_FOUND");
      await assert.rejects(shops.put("s2", { at: point(91, 0) }), isInvalid("object.at.lat"));
      const buckets = [];
      for await (const { bucket, objects } of db.buckets({ scope: "things/t1" })) buckets.push([bucket, objects]);
      assert.deepEqual(buckets, [["things/t1/shops", 1]]);
      assert.equal(await shops.drop(), 1);
    });

    test("many objects, all pages, and what is asked of a query", async () => {
      const shops = db.bucket("many");
      const steps = [];
      async function* all() {
        for (let n = 0; n < 450; n += 1) yield { _id: `s${n}`, ...shop(n) };
      }
      const how = { batchBytes: 10_000, onProgress: (step) => steps.push(step) };
      assert.deepEqual(await shops.putMany(all(), how), { written: 450, skipped: 0 });
      assert.ok(steps.length > 3 && steps.at(-1).written === 450);
      assert.deepEqual(await shops.putMany([{ _id: "s1", n: 0 }, { _id: "x1", n: 1 }], { ifNewer: "n" }), { written: 1, skipped: 1 });
      const names = [];
      for await (const { n } of shops.find(near("location", TOKYO, 100_000, "d")).nearest().fields("n")) names.push(n);
      assert.equal(names.length, 450);
      assert.deepEqual(names.slice(0, 3), [1, 2, 0]);
      const even = shops.find(near("location", TOKYO, 100_000, "d"), eq("open", true));
      assert.deepEqual((await even.orderBy(descending("n")).limit(2).toArray()).map(({ n }) => n), [448, 446]);
      assert.equal((await even.limit(210).toArray()).length, 210);
      assert.equal((await even.nearest().first())._id, "s2");
      const page = await even.limit(3).page();
      assert.equal((await even.page({ key: page.nextKey })).objects[0].n, 6);
      assert.equal(await even.count(), 225);
      assert.match(JSON.stringify(await even.nearest().explain({ analyze: true })), /accessPath/);
      const { total, opens, most, mean, all: whole } = await shops.find(lt("n", 10)).aggregate(
        { total: sum("n"), opens: group("open", 5), most: max("n"), mean: avg("n"), all: count() });
      assert.deepEqual([total, most, mean, whole, opens.values[0].count], [46, 9, 46 / 11, 11, 5]);
      const clusters = await shops.find(eq("open", true)).clusters({ zoom: 3, box: [[30, 130], [40, 140]] });
      assert.equal(clusters.total, 225);
      assert.equal((await shops.fields()).fields.find(({ field }) => field === "open").types.BOOLEAN, 450);
      assert.equal(await even.delete({ dryRun: true }), 225);
      assert.equal(await even.delete(), 225);
      assert.equal(await shops.count(), 226);
      assert.equal((await shops.find(eq("opne", true)).page({ hints: true })).hints[0].nearest, "open");
    });

    test("the service takes every clause", async () => {
      const places = db.bucket("clauses");
      await places.putMany([{ _id: "a1", ...shop(1, { tags: ["x"], note: null }) }, { _id: "b1", ...shop(2) }]);
      const ring = [[139.7, 35.6], [139.8, 35.6], [139.8, 35.7], [139.7, 35.7], [139.7, 35.6]];
      for (const [clause, ids] of [
        [eq("name", "Shop 1"), "a1"], [ne("name", "Shop 1"), "b1"], [eq("note", null), "a1"], [between("n", 1, 1.5), "a1"],
        [geobucket.gt("n", 1), "b1"], [geobucket.gte("n", 2), "b1"], [geobucket.lte("n", 1), "a1"], [prefix("name", "Shop 2"), "b1"],
        [like("name", "%HOP _", { ignoreCase: true }), "a1b1"], [isIn("n", new Set([2, 3])), "b1"], [hasField("tags", "ARRAY"), "a1"],
        [contains("tags", "x"), "a1"], [near("location", { lat: 35.681, lng: 139.76 }, 50), "a1"],
        [near("location", TOKYO, undefined, "d", { model: "wgs84" }), "a1b1"], [box("location", [35, 139], [35.6815, 140]), "a1"],
        [within("location", ring), "a1b1"],
        [within("location", { type: "Feature", geometry: { type: "Polygon", coordinates: [ring] } }), "a1b1"],
        [along("location", [[139.76, 35.6805], [139.76, 35.6815]], 10, { distanceInto: "d", alongInto: "a" }), "a1"],
        [and(eq("n", 1), or(eq("n", 2), not(eq("n", 2)))), "a1"], [geobucket.all(), "a1b1"],
        [raw('{"type":"eq","field":"n","value":1}'), "a1"],
      ]) {
        assert.equal((await places.find(clause).toArray()).map(({ _id }) => _id).join(""), ids, JSON.stringify(clause));
      }
    });

    test("whole numbers beyond 2^53 are exact where that is asked for", async () => {
      const exact = await connect(service[kind], { bigint: true });
      try {
        const numbers = exact.bucket("numbers");
        await numbers.put("n1", { big: 18446744073709551615n, small: 7, text: "18446744073709551615" });
        const { big, small, text } = await numbers.get("n1");
        assert.deepEqual([big, small, text], [18446744073709551615n, 7, "18446744073709551615"]);
        assert.equal(await numbers.count(eq("big", 18446744073709551615n)), 1);
        assert.equal((await db.bucket("numbers").get("n1")).big, 18446744073709552000);
      } finally {
        exact.close();
      }
    });

    test("a watch tells what enters, changes and leaves; it moves, and says when it has everything", async () => {
      const riders = db.bucket("riders");
      await riders.put("c1", shop(0));
      const watch = riders.find(near("location", TOKYO, 2000, "d")).fields("n").watch();
      const told = [];
      let last;
      const task = (async () => {
        for await (const state of watch) {
          last = state;
          told.push(...state.events.map(({ event, id }) => `${event} ${id}`));
        }
      })();
      await watch.sync();
      await riders.put("c2", shop(1));
      await riders.patch("c2", { n: 9 });
      await watch.sync();
      await riders.delete("c1");
      await watch.sync();
      await until(() => last?.objects.size === 1);
      assert.equal(last.objects.get("c2").n, 9);
      assert.ok(last.objects.get("c2")._calculated.d > 0);
      await riders.put("far1", { n: 1, location: point(0, 0) });
      const change = await watch.move(riders.find(near("location", [0, 0], 2000, "d")));
      await until(() => last.change >= change && last.objects.has("far1"));
      assert.deepEqual([...last.objects.keys()], ["far1"]);
      assert.deepEqual(told.filter((event) => event !== "change c2"), ["enter c1", "enter c2", "leave c1", ...told.slice(-2)]);
      assert.deepEqual(told.slice(-2).sort(), ["enter far1", "leave c2"]);
      await watch.close();
      await task;
    });

    test("a ranking is kept in order", async () => {
      const cabs = db.bucket("cabs");
      await cabs.putMany([1, 2, 3, 4].map((n) => ({ _id: `c${n}`, ...shop(n) })));
      const nearest = cabs.find(near("location", [35.68, 139.76], 20_000, "d")).nearest().limit(3);
      const watch = nearest.watch({ interval: kind === "lines" ? 0 : undefined });
      let seen = "";
      for await (const { objects } of watch) {
        const ids = [...objects.keys()].join("");
        if (ids === seen) continue;
        if (seen === "") {
          assert.equal(ids, "c1c2c3");
          await cabs.patch("c1", { location: point(36, 139.76) });
        } else {
          assert.equal(ids, "c2c3c4");
          break;
        }
        seen = ids;
      }
    });

    test("of the fields that are named, and none, a watch tells", async () => {
      const riders = db.bucket("named");
      await riders.put("c1", { a: 1, b: 2 });
      for (const [names, expected] of [[["a"], { _id: "c1", a: 1 }], [[], { _id: "c1" }]]) {
        for await (const { objects } of riders.find().fields(...names).watch()) {
          assert.deepEqual(objects.get("c1"), expected);
          break;
        }
      }
    });

    test("a loop that ends, a signal and a refused query end a watch", async () => {
      const stop = new AbortController();
      const watch = db.bucket("riders").find().watch({ signal: stop.signal });
      await assert.rejects(async () => {
        for await (const { isSnapshot } of watch) if (isSnapshot) stop.abort(new Error("enough"));
      }, /enough/);
      await assert.rejects(async () => {
        for await (const state of db.bucket("riders").find(raw({ type: "nothing" })).watch()) assert.fail(state);
      }, InvalidInput);
      await assert.rejects(watch.sync(), /enough/);
      const other = await connect(service[kind]);
      await assert.rejects(async () => {
        for await (const { isSnapshot } of other.bucket("riders").find().watch()) if (isSnapshot) other.close();
      }, (error) => error.code === "CLOSED");
    });

    test("a watch goes on over restarts of the service, killed or stopped", async () => {
      const riders = db.bucket("restarts");
      await riders.put("c0", { n: 0 });
      const watch = riders.find(lt("n", 100)).watch();
      const seen = new Map();
      let [isConnected, losses] = [true, 0];
      const task = (async () => {
        for await (const state of watch) {
          for (const { event, id, object } of state.events) event === "leave" ? seen.delete(id) : seen.set(id, object.n);
          if (isConnected && !state.isConnected) losses += 1;
          isConnected = state.isConnected;
        }
      })();
      await until(() => seen.size === 1);
      for (const [n, signal] of ["SIGKILL", "SIGTERM"].entries()) {
        await service.stop(signal);
        const write = riders.put(`c${n + 1}`, { n });
        await sleep(50);
        await service.start();
        await write;
        await until(() => seen.has(`c${n + 1}`));
      }
      await riders.delete("c0");
      await watch.sync();
      await until(() => !seen.has("c0"));
      assert.deepEqual([...seen], [["c1", 0], ["c2", 1]]);
      assert.equal(losses, 2);
      await watch.close();
      await task;
    });

    test("a slow loop loses nothing: states are merged", async () => {
      const riders = db.bucket("slow");
      const watch = riders.find().watch();
      let states = 0;
      await watch.sync();
      await Promise.all(Array.from({ length: 400 }, (_, n) => riders.put(`c${n % 20}`, { n })));
      await riders.put("last", {});
      await watch.sync();
      for await (const { objects } of watch) {
        states += 1;
        if (!objects.has("last")) continue;
        assert.equal(objects.size, 21);
        break;
      }
      assert.ok(states <= 2, `${states} states`);
    });
  });
}

describe("lines alone", { skip: noProgram }, () => {
  let service, db;
  before(async () => {
    service = await Program.started();
    db = await connect(service.lines.replace("geobucket://", ""));
  });
  after(async () => {
    db.close();
    await service.end();
  });

  test("pairs that meet and part, and a centre that moves", async () => {
    const [riders, orders] = [db.bucket("riders"), db.bucket("orders")];
    await riders.put("c1", shop(1));
    await orders.put("o1", { pickup: point(35.6815, 139.76), open: true });
    const how = { field: "pickup", radius: 200 };
    const watch = riders.find(near("location", TOKYO, 5000)).watchPairs(orders.find(eq("open", true)), how);
    const told = [];
    for await (const { pairs, events } of watch) {
      told.push(...events.map(({ event, ids }) => `${event} ${ids.join(" ")}`));
      if (told.length === 1) {
        assert.equal(Math.round(pairs.get("c1/o1").distance), 56);
        await riders.patch("c1", { location: point(35.69, 139.76) });
      } else break;
    }
    assert.deepEqual(told, ["meet c1 o1", "part c1 o1"]);

    await riders.put("c2", shop(11));
    const around = riders.find(near("location", objectAt("riders", "c1", "location"), 300)).watch({ leaveRadius: 400 });
    const seen = [];
    for await (const { objects, centerIsMissing } of around) {
      seen.push([[...objects.keys()].join(""), centerIsMissing].join(" "));
      if (seen.length === 1) await riders.delete("c1");
      if (centerIsMissing) break;
    }
    assert.equal(seen[0], "c1c2 false");
    assert.match(seen.at(-1), /true$/);
  });

  test("an export is the bucket as it is at the beginning", async () => {
    const bucket = db.bucket("exported");
    await bucket.putMany(Array.from({ length: 3000 }, (_, n) => ({ _id: `s${n}`, text: "x".repeat(500) })));
    const ids = [];
    for await (const { _id } of bucket.export()) {
      if (ids.length === 0) await bucket.delete("s2999");
      ids.push(_id);
    }
    assert.equal(ids.length, 3000);
    assert.equal(await bucket.count(), 2999);
    await assert.rejects(async () => {
      const other = await connect(service.lines);
      for await (const { _id } of other.bucket("exported").export()) if (_id) other.close();
    }, (error) => error.code === "CLOSED");
    const web = await connect(service.web);
    await assert.rejects(web.bucket("exported").export().next(), InvalidInput);
    for (const count of [0, -1, 1.5, "3"]) assert.throws(() => web.bucket("exported").find().limit(count), InvalidInput);
    web.close();
  });

  test("a line that is too long, and half a character, are refused, and the connection goes on", async () => {
    await assert.rejects(db.bucket("large").put("l1", { text: "x".repeat(2_000_000) }), InvalidInput);
    await assert.rejects(db.bucket("large").put("l1", { text: "\ud800" }), InvalidInput);
    await assert.rejects(db.bucket("large").put("l1", { n: NaN }), (error) => error.path === "object.n");
    assert.equal(await db.ping(), "pong");
  });

  test("a service that is not there, and another one", async () => {
    await assert.rejects(connect("geobucket://127.0.0.1:9", { connectTimeout: 200 }), geobucket.Unavailable);
    await assert.rejects(connect(service.web.replace("http", "geobucket"), { connectTimeout: 500 }), geobucket.GeoBucketError);
    await assert.rejects(connect("ftp://a"), InvalidInput);
    const second = await connect(["geobucket://127.0.0.1:9", service.lines]);
    assert.equal(await second.ping(), "pong");
    second.close();
    await assert.rejects(second.ping(), (error) => error.code === "CLOSED");
  });
});

describe("tokens", { skip: noProgram }, () => {
  let service, token;
  before(async () => {
    service = new Program(["--tokens", "geobucket.tokens"]);
    token = service.run("token", "create", "--principal", "alice", "--tokens", "geobucket.tokens").trim().split(/\s/).pop();
    await service.start();
  });
  after(() => service.end());

  for (const kind of ["lines", "web"]) {
    test(`a token, one made by a function, none, and a wrong one, over ${kind}`, async () => {
      for (const given of [token, async () => token]) {
        const db = await connect(service[kind], { token: given });
        await db.bucket("users/alice/notes").put("n1", { text: "a" });
        for await (const { objects } of db.bucket("users/alice/notes").find().watch()) {
          assert.equal(objects.size, 1);
          break;
        }
        db.close();
      }
      for (const given of [undefined, "wrong"]) {
        await assert.rejects(async () => {
          const db = await connect(service[kind], { token: given });
          await db.bucket("notes").count().finally(() => db.close());
        }, Unauthorized);
      }
    });
  }
});

test("TLS: with the authority's certificate alone, and plain text is told from it", { skip: noProgram }, async () => {
  const service = new Program(["--tls-certificate", "cert.pem", "--tls-key", "key.pem"]);
  const openssl = (...words) => execFileSync("openssl", words, { cwd: service.folder, stdio: "ignore" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const authority = ["-subj", "/CN=authority", "-addext", "keyUsage=critical,keyCertSign"];
  openssl("req", "-x509", ...key, "-keyout", "ca-key.pem", "-out", "ca.pem", ...authority);
  openssl("req", ...key, "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=localhost");
  writeFileSync(service.path("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  const signer = ["-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-extfile", "names"];
  openssl("x509", "-req", "-in", "request.pem", "-out", "cert.pem", ...signer);
  await service.start();
  const ca = readFileSync(service.path("ca.pem"));
  for (const address of [service.secureLines, service.secureLines.replace("127.0.0.1", "localhost")]) {
    const db = await connect(address, { tls: { ca } });
    assert.equal(await db.ping(), "pong");
    db.close();
  }
  const within = { connectTimeout: 300 };
  await assert.rejects(connect(service.secureLines, within), { name: "Unavailable", message: /certificate/ });
  await assert.rejects(connect(service.secureLines, { tls: { key: "no key" } }), isInvalid("tls"));
  await assert.rejects(connect(service.lines, within), (error) => error.code === "INVALID_REQUEST" && /TLS/.test(error.message));
  await service.end();
});

const isInvalid = (path) => (error) => error instanceof InvalidInput && error.path === path;

async function until(condition) {
  for (let n = 0; n < 1000; n += 1) {
    if (condition()) return;
    await sleep(10);
  }
  assert.fail("it has not come to that");
}
