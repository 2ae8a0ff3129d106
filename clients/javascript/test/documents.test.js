// What README.md and docs/javascript.md show does what they say.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as geobucket from "../src/index.js";
import { Program, noProgram } from "./support/program.js";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const PAGE = readFileSync(new URL("../../../docs/javascript.md", import.meta.url), "utf8");

/** The blocks of code of a language, in order. */
const blocks = (text, language) => [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, name]) => name === language).map(([, , code]) => code);

/** Runs a module in a folder that has the package, and returns what it prints. */
async function run(service, code, name) {
  mkdirSync(service.path("node_modules"), { recursive: true });
  try {
    symlinkSync(PACKAGE, service.path("node_modules/geobucket"));
  } catch {
    // It is there from the example before.
  }
  const file = join(service.folder, `${name}.mjs`);
  writeFileSync(file, code.replaceAll("geobucket://localhost:4362", service.lines).replaceAll("http://localhost:4364", service.web));
  return (await promisify(execFile)(process.execPath, [file], { timeout: 20_000 })).stdout;
}

test("the quick start", { skip: noProgram }, async () => {
  const service = await Program.started();
  const output = await run(service, blocks(README, "js")[0], "start");
  assert.equal(output, blocks(README, "text")[0]);
  await service.end();
});

test("the examples of the page, over lines and over HTTP", { skip: noProgram }, async () => {
  const service = await Program.started();
  const examples = blocks(PAGE, "js").filter((code) => code.startsWith("import") && !code.includes("maplibre"));
  assert.ok(examples.length >= 4);
  for (const [n, code] of examples.entries()) await run(service, code, `example${n}`);
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
