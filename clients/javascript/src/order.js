// The order in which queries sort values, as docs/queries.md has it.

/** Compares documents by `[{field, descending}]`. Documents without a field come last, whatever its direction. */
export function compareBy(keys) {
  return (a, b) => {
    for (const { field, descending } of keys) {
      const difference = compareFields(valueAt(a, field), valueAt(b, field), descending);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

function compareFields(a, b, descending) {
  if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
  const difference = compareValues(a, b);
  return descending ? -difference : difference;
}

/** The value at a path; a first-level field of that whole name takes precedence. */
function valueAt(object, path) {
  if (Object.hasOwn(object, path)) return object[path];
  const member = (value, name) => (isPlain(value) && Object.hasOwn(value, name) ? value[name] : undefined);
  return path.split(".").reduce(member, object);
}

const isPlain = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const RANKS = { boolean: 1, number: 2, bigint: 2, string: 3 };
const POINT = 4;

function rank(value) {
  if (value === null) return 0;
  return RANKS[typeof value] ?? (value._type === "point" ? POINT : POINT + 1);
}

/** Longitudes 180 and -180 are the same. */
const meridian = ({ lon }) => (lon === 180 ? -180 : lon);

function compareValues(a, b) {
  const kind = rank(a);
  if (kind !== rank(b)) return kind - rank(b);
  if (kind === RANKS.string) return compareTexts(a, b);
  if (kind === POINT) return a.lat - b.lat || meridian(a) - meridian(b);
  return a < b ? -1 : Number(a > b);
}

/** By code points, where JavaScript compares code units. */
function compareTexts(a, b) {
  let index = 0;
  while (index < a.length && a[index] === b[index]) index += 1;
  return (a.codePointAt(index) ?? -1) - (b.codePointAt(index) ?? -1);
}
