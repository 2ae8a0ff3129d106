// The least that tests of pure modules need: named tests, comparisons, seeded random numbers.

const tests = [];

/** A test; its name is the rule that it states. */
export const test = (name, body) => tests.push({ name, body });

const shown = (value) => JSON.stringify(value, (_, item) => (item === undefined ? "undefined" : item));

export function equal(found, expected, note = "") {
  if (shown(found) !== shown(expected)) throw new Error(`${note} found ${shown(found)}, expected ${shown(expected)}`);
}

export function near(found, expected, tolerance, note = "") {
  if (!(Math.abs(found - expected) <= tolerance)) throw new Error(`${note} found ${found}, expected ${expected} ± ${tolerance}`);
}

export function holds(condition, note) {
  if (!condition) throw new Error(note);
}

/** Random numbers in 0…1 from a seed (mulberry32). */
export function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

/** Runs every test; the names of all, each with its failure or `null`. */
export async function run() {
  const results = [];
  for (const { name, body } of tests) {
    try {
      await body();
      results.push([name, null]);
    } catch (error) {
      results.push([name, String(error.stack ?? error)]);
    }
  }
  return results;
}
