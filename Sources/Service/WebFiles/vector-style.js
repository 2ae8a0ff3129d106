// Draws vector tiles of the usual kinds (OpenMapTiles, Protomaps, Shortbread, Mapbox Streets) in the page's colours, and
// finds the names of places in them. A layer of another name is drawn as lines.

const SIZE = 256;
const GREEN = /wood|forest|park|grass|meadow|garden|scrub|nature|golf|recreation|cemetery|pitch|farm|orchard|vineyard|heath|allotment|village_green|zoo/;
const BUILT = /residential|commercial|industrial|retail|school|hospital|university|urban|pedestrian|railway|airport|aerodrome/;
const ROADS = [
  { is: /motorway|highway|trunk/, width: 3, from: 4 }, { is: /primary|major/, width: 2.2, from: 7 },
  { is: /secondary|tertiary|medium/, width: 1.5, from: 9 }, { is: /rail|transit|tram|subway/, width: 0.8, from: 11, colour: "border" },
  { is: /path|track|footway|cycleway|steps|pedestrian/, width: 0.7, from: 14 }, { is: /ferry/, width: 0, from: 99 },
  { is: /./, width: 1, from: 12 },
];

const kindOf = ({ class: name, kind, kind_detail: detail, subclass, type }) => String(detail ?? kind ?? name ?? subclass ?? type ?? "");
const groupOf = ({ class: name, kind, type }) => String(kind ?? name ?? type ?? "");

/** Layers that say nothing that the map shows, but for the names of places. */
const UNSEEN = /name|label|place|poi|peak|housenumber|address|aero|aerial|ferr|dam|pier|bridge|public_transport|street_polygons/;

/** What is drawn, from the lowest to the uppermost: which layers, and how a feature of them is. `null` leaves it out. */
const STYLES = [
  { layers: /^(earth|land)$/, polygon: ({ kind }) => ({ fill: kind && kind !== "earth" ? areaColour(kind) : "land" }) },
  { layers: /landcover|landuse|^park|^sites$/, polygon: (properties) => ({ fill: areaColour(`${kindOf(properties)} ${groupOf(properties)}`) }) },
  { layers: /^(ocean|water|water_polygons)$/, polygon: () => ({ fill: "water" }) },
  { layers: /^(waterway|water_lines|water)$/, line: (properties) =>
    ({ stroke: "water", width: /river|canal/.test(kindOf(properties)) ? 1.6 : 0.8 }) },
  { layers: /^buildings?$/, polygon: (_, zoom) => (zoom >= 13 ? { fill: "built" } : null) },
  { layers: /boundar|^admin/, line: boundary },
  { layers: /^(transportation|roads?|streets?|transit)$/, line: road },
];
const PLAIN = { polygon: () => ({ stroke: "border", width: 0.8 }), line: () => ({ stroke: "border", width: 0.8 }) };

function areaColour(kind) {
  if (GREEN.test(kind)) return "green";
  return BUILT.test(kind) ? "settled" : null;
}

function boundary({ admin_level: level, kind, maritime }) {
  const isCountry = kind === "country" || Number(level) <= 2;
  const isRegion = kind === "region" || (Number(level) > 2 && Number(level) <= 4);
  if ((!isCountry && !isRegion) || Number(maritime) === 1) return null;
  return { stroke: "border", width: isCountry ? 1.2 : 0.7 };
}

function road(properties, zoom) {
  const kind = `${kindOf(properties)} ${groupOf(properties)}`;
  const { width, from, colour = "road" } = ROADS.find(({ is }) => is.test(kind));
  if (zoom < from) return null;
  return { stroke: colour, width: width * Math.min(4, 0.5 * 1.25 ** Math.max(0, zoom - Math.max(from, 6))) };
}

/**
 * Draws the layers of a tile. `part` is what of the tile's side is drawn: {x, y} from its corner, and how many
 * `times` it is enlarged.
 */
export function drawTile(context, layers, zoom, part, palette) {
  context.fillStyle = layers.has("earth") ? palette.water : palette.land;
  context.fillRect(0, 0, SIZE, SIZE);
  context.lineJoin = "round";
  context.lineCap = "round";
  const seen = [...layers].filter(([name]) => !UNSEEN.test(name));
  const isKnown = (name) => STYLES.some((style) => style.layers.test(name));
  for (const style of [...STYLES, PLAIN]) {
    for (const [name, layer] of seen) {
      const isIts = style === PLAIN ? !isKnown(name) : style.layers.test(name);
      if (isIts) drawLayer(context, layer, { style, zoom, part, palette });
    }
  }
}

/** All features of one look in one path. */
function drawLayer(context, { extent, features }, { style, zoom, part, palette }) {
  const paths = new Map();
  for (const { type, properties, parts } of features) {
    const look = style[type]?.(properties, zoom);
    if (!look?.fill && !look?.stroke) continue;
    const key = `${look.fill ?? ""} ${look.stroke ?? ""} ${look.width ?? ""}`;
    if (!paths.has(key)) paths.set(key, { look, path: new Path2D() });
    trace(paths.get(key).path, parts, type === "polygon", (SIZE * part.times) / extent, part);
  }
  const ordered = [...paths.values()].sort((a, b) => (a.look.width ?? 0) - (b.look.width ?? 0));
  for (const { look, path } of ordered) {
    if (look.fill) {
      context.fillStyle = palette[look.fill];
      context.fill(path);
    }
    if (!look.stroke) continue;
    context.strokeStyle = palette[look.stroke];
    context.lineWidth = look.width;
    context.stroke(path);
  }
}

function trace(path, parts, isClosed, scale, { x, y, times }) {
  const [left, top] = [x * times * SIZE, y * times * SIZE];
  for (const part of parts) {
    path.moveTo(part[0] * scale - left, part[1] * scale - top);
    for (let at = 2; at < part.length; at += 2) path.lineTo(part[at] * scale - left, part[at + 1] * scale - top);
    if (isClosed) path.closePath();
  }
}

const RANKS = [/country/, /capital|city/, /state|region|province/, /town|locality/, /village/];

/** The names of places in the layers of a tile: each with its point from 0 to 1 across the tile, and a rank, low for what matters. */
export function placesIn(layers, language) {
  const found = [];
  for (const [name, { extent, features }] of layers) {
    if (!/^place/.test(name)) continue;
    for (const { type, properties, parts } of features) {
      const text = nameOf(properties, language);
      if (type !== "point" || !text) continue;
      found.push({ name: text, x: parts[0][0] / extent, y: parts[0][1] / extent, rank: rankOf(properties) });
    }
  }
  return found;
}

function nameOf(properties, language) {
  const names = [`name:${language}`, `name_${language}`, "name:latin", "name_en", "name:en", "name"].map((key) => properties[key]);
  return names.find((name) => typeof name === "string" && name !== "");
}

function rankOf(properties) {
  const kind = `${kindOf(properties)} ${groupOf(properties)}`;
  const at = RANKS.findIndex((rank) => rank.test(kind));
  const inner = Number(properties.rank ?? properties.min_zoom ?? properties.symbolrank ?? 20);
  const population = Number(properties.population ?? 0);
  return (at < 0 ? RANKS.length : at) * 100 + Math.min(40, inner) - Math.min(19, Math.log2(1 + population) / 2);
}
