// The sessions in the documents of the protocol, over lines and over HTTP: the client gets what they show.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { GeoBucketError, connect } from "../src/index.js";
import { Program, noProgram } from "./support/program.js";

const ROOT = new URL("../../../", import.meta.url);

/** The sessions with nc: pairs of a request and its answer. */
function sessions(name) {
  const text = readFileSync(new URL(`docs/${name}`, ROOT), "utf8");
  return [...text.matchAll(/^\$ nc -N.*\n([^]*?)^END\n([^]*?)^```/gm)].map(([, requests, answers]) => {
    const lines = (block) => block.trim().split("\n").map((line) => JSON.parse(line));
    return lines(requests).map((request) => [request, lines(answers).find(({ id }) => id === request.id)]);
  });
}

/** Times are others each time. */
const timeless = (value) => JSON.parse(JSON.stringify(value, (name, member) => (/^_(created|modified)$/.test(name) ? 0 : member)));

test("docs/protocol.md and docs/queries.md", { skip: noProgram }, async () => {
  const all = ["protocol.md", "queries.md"].flatMap(sessions);
  assert.ok(all.length >= 4);
  for (const kind of ["lines", "web"]) {
    const service = await Program.started();
    const airports = fileURLToPath(new URL("Data/airports-main.ndjson.gz", ROOT));
    service.run("load", airports, "--bucket", "airports", "--server", service.lines);
    const db = await connect(service[kind]);
    for (const [{ method, params }, { result, error }] of all.flat()) {
      const answer = await db.call(method, params).catch((failure) => failure);
      if (result) assert.deepEqual(timeless(answer), timeless(result));
      else {
        assert.ok(answer instanceof GeoBucketError, method);
        assert.deepEqual([answer.code, answer.message, answer.path], [error.data.errorCode, error.message, error.data.path]);
      }
    }
    db.close();
    await service.end();
  }
});
