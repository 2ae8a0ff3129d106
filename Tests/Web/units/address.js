import { emptyView, fragmentOf, viewOf } from "/map/address.js";
import { rowsOfClause } from "/map/query.js";
import { clauses } from "./clauses.js";
import { equal, holds, test } from "./check.js";

const shown = (value) => JSON.stringify(value);

test("A view in the address is the same view", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const order = [{ by: "near", descending: false }, { by: "near", descending: true }, { by: "created" }, { by: "field", field: "a:desc", descending: true },
      { by: "keys", keys: [{ field: "a" }, { field: "b&=#", descending: true }] }][seed % 5];
    const view = { ...emptyView(), bucket: ["airports", "users/alice/notes"][seed % 2], field: [null, "depot.at"][seed % 2], object: [null, "a-b_c.d"][seed % 2],
      at: [null, { lat: -17.5, lon: 179.99999, zoom: 5 }][seed % 2], isLive: seed % 3 === 0, query: { ...rowsOfClause(clauses(seed).clause()), order } };
    const fragment = fragmentOf(view);
    holds(/^[A-Za-z0-9\-._~!$&'()*+,;=:@/?%]*$/.test(fragment), `seed ${seed}: ${fragment}`);
    const back = viewOf(`#${fragment}`);
    // A single clause of an `or` is the clause itself.
    equal(shown({ ...back, query: { ...back.query, match: 0 } }), shown({ ...view, query: { ...view.query, match: 0 } }), `seed ${seed}:`);
  }
});

test("What cannot be read in an address is as if it were not there", () => {
  for (const text of ["", "#", "#bucket=", "#at=91,0,5", "#at=x", "#clause={", "#clause=%", "#order=field:x", "#order=keys:[]", "#order=nonsense", "#live=2", "#&&=&", "#clause=7"]) {
    equal(shown(viewOf(text)), shown(emptyView()), text);
  }
});

test("A map that was moved around the world has a longitude in -180…180 in the address", () => {
  equal(fragmentOf({ ...emptyView(), bucket: "b2", at: { lat: 1, lon: 545.5, zoom: 3 } }), "bucket=b2&at=1,-174.5,3");
});
