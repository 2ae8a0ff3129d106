// What README.md and docs/javascript.md show does what they say.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as geobucket from "../src/index.js";
import { connect, point } from "../src/index.js";
import { Program, noProgram } from "./support/program.js";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const PAGE = readFileSync(new URL("../../../docs/javascript.md", import.meta.url), "utf8");

/** The blocks of code of a language, in order. */
const blocks = (text, language) =>
  [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, name]) => name === language).map(([, , code]) => code);

/** Writes a module into a folder that has the package. */
function write(service, code, name) {
  mkdirSync(service.path("node_modules"), { recursive: true });
  if (!existsSync(service.path("node_modules/geobucket"))) symlinkSync(PACKAGE, service.path("node_modules/geobucket"));
  const file = service.path(`${name}.mjs`);
  const here = code.replaceAll("geobucket://localhost:4362", service.lines).replaceAll("http://localhost:4364", service.web);
  writeFileSync(file, here);
  return file;
}

/** Runs it, and returns what it prints. */
async function run(service, code, name) {
  return (await promisify(execFile)(process.execPath, [write(service, code, name)], { timeout: 20_000 })).stdout;
}

test("the quick start", { skip: noProgram }, async () => {
  const service = await Program.started();
  const output = await run(service, blocks(README, "js")[0], "start");
  assert.equal(output, blocks(README, "text")[0]);
  await service.end();
});

test("the examples of the page, over lines and over HTTP", { skip: noProgram }, async () => {
  const service = await Program.started();
  const examples = blocks(PAGE, "js").filter((code) => !/maplibre|fences/.test(code));
  assert.ok(examples.length >= 4);
  for (const [n, code] of examples.entries()) await run(service, code, `example${n}`);
  await service.end();
});

test("the webhook: every meeting is posted, over a receiver that fails, and over a kill", { skip: noProgram }, async () => {
  const service = await Program.started();
  const db = await connect(service.lines);
  const posts = [];
  let refusals = 2;
  const receiver = createServer((request, response) => {
    let text = "";
    request.on("data", (part) => { text += part; });
    request.on("end", () => {
      response.statusCode = (refusals -= 1) >= 0 ? 503 : 204;
      if (response.statusCode === 204) posts.push(JSON.parse(text));
      response.end();
    });
  });
  await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const code = blocks(PAGE, "js").find((block) => block.includes("fences.place"));
  const url = `http://127.0.0.1:${receiver.address().port}/`;
  const start = () => spawn(process.execPath, [write(service, code, "fences"), url], { cwd: service.folder });
  const until = async (count) => {
    for (let n = 0; posts.length < count && n < 500; n += 1) await sleep(10);
    assert.equal(posts.length, count);
  };
  const there = point(35.68, 139.76);
  await db.bucket("depots").put("d1", { location: there });
  let script = start();
  await until(1);
  await db.bucket("couriers").put("c1", { location: there });
  await until(2);
  await sleep(50);
  script.kill("SIGKILL");
  await db.bucket("couriers").put("c1", { location: point(0, 0) });
  script = start();
  await until(3);
  script.kill("SIGKILL");
  const told = posts.map(({ snapshot, events }) => snapshot ?? events.map(({ event, ids }) => `${event} ${ids}`));
  // At last, what has happened meanwhile or all that there is.
  assert.deepEqual(told, [[], ["meet c1,d1"], posts[2].snapshot ? [] : ["part c1,d1"]]);
  receiver.close();
  db.close();
  await service.end();
});

test("the page and the types name all that is exported", () => {
  const types = readFileSync(new URL("../src/index.d.ts", import.meta.url), "utf8");
  const declared = [...types.matchAll(/^export (?:function|class) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual([...new Set(declared)].sort(), Object.keys(geobucket).sort());
  for (const name of Object.keys(geobucket)) assert.match(PAGE, new RegExp(`\\b${name}\\b`), name);
  for (const name of ["Database", "Bucket", "Query", "Watch"]) {
    const body = types.match(new RegExp(`^export class ${name}\\b.*?^}`, "ms"))[0];
    const members = Object.getOwnPropertyNames(geobucket[name].prototype).filter((member) => member !== "constructor");
    for (const member of members) assert.match(body, new RegExp(`\\b${member}\\b`), `${name}.${member}`);
    for (const [, member] of body.matchAll(/^  (?:readonly )?(\w+)[(<]/gm)) {
      if (member !== "constructor") assert.ok(members.includes(member), `${name}.${member}`);
    }
  }
});
