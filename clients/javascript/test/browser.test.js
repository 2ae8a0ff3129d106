// The same modules in a browser: calls and watches over HTTP, from a page of another origin.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { Program, noProgram } from "./support/program.js";

const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const skip = noProgram || (chromium ? false : "it needs Debian's package chromium");

/** What the page does, in the browser. */
async function inPage(address) {
  const { connect, eq, near, point } = await import("/src/index.js");
  const db = await connect(address, { bigint: true });
  const shops = db.bucket("shops");
  const shop = (n) => ({ _id: `s${n}`, n, big: 9007199254740993n, open: n !== 2, location: point(35 + n / 1000, 139) });
  await shops.putMany([1, 2, 3].map(shop));
  const told = [];
  for await (const { objects, events } of shops.find(near("location", [35, 139], 5000, "d"), eq("open", true)).watch()) {
    told.push(...events.map(({ event, id }) => `${event} ${id}`));
    if (objects.size === 1) break;
    await shops.patch("s1", { open: false });
  }
  const [first] = await shops.find(near("location", [35, 139], 5000, "d")).nearest().toArray();
  const failure = await shops.get("none").catch((error) => error.constructor.name);
  const lines = await connect("geobucket://localhost").catch((error) => `no lines: ${error instanceof Error}`);
  db.close();
  return { told, nearest: first._id, big: String(first.big), failure, lines };
}

test("in Chromium", { skip, timeout: 40_000 }, async () => {
  let service, report;
  const result = new Promise((resolve) => { report = resolve; });
  const pages = createServer((request, response) => {
    if (request.method === "POST") return void request.setEncoding("utf8").on("data", (text) => report(JSON.parse(text)));
    const isScript = /^\/src\/[\w-]+\.js$/.test(request.url);
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
    if (isScript) return void response.end(readFileSync(new URL(`..${request.url}`, import.meta.url)));
    response.end(`<!doctype html><script type="module">
      const result = await (${inPage})(${JSON.stringify(service.web)}).catch((error) => ({ error: String(error.stack) }));
      fetch("/", { method: "POST", body: JSON.stringify(result) });
    </script>`);
  });
  await new Promise((resolve) => pages.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${pages.address().port}`;
  service = await Program.started("--web-origin", origin);
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${service.path("browser")}`];
  const browser = spawn(chromium, [...flags, origin], { stdio: "ignore" });
  try {
    assert.deepEqual(await result, {
      told: ["enter s1", "enter s3", "leave s1"], nearest: "s1", big: "9007199254740993", failure: "NotFound", lines: "no lines: true",
    });
  } finally {
    const isOver = new Promise((resolve) => browser.once("exit", resolve));
    browser.kill();
    await isOver;
    pages.closeAllConnections();
    pages.close();
    await service.end();
  }
});
