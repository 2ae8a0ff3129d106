// Geometry on the sphere of the service's distances, and longitudes that wrap.

export const EARTH_RADIUS = 6371000;
const RADIANS = Math.PI / 180;

/** The longitude in -180…180; 180 stays 180. */
export function wrapLongitude(lon) {
  if (lon >= -180 && lon <= 180) return lon;
  return ((((lon + 180) % 360) + 360) % 360) - 180;
}

/** The copy of a longitude that is nearest to another, however far that one is from 0. */
export const near = (lon, reference) => lon + 360 * Math.round((reference - lon) / 360);

/** The great-circle distance in metres. */
export function distanceBetween(a, b) {
  const lat = (b.lat - a.lat) * RADIANS;
  const lon = (b.lon - a.lon) * RADIANS;
  const h = Math.sin(lat / 2) ** 2
    + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * Math.sin(lon / 2) ** 2;
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** The point that lies so many metres away in the direction of a bearing, degrees clockwise from north. */
export function destination(from, meters, bearing) {
  const angle = meters / EARTH_RADIUS;
  const lat = from.lat * RADIANS;
  const sine = Math.sin(lat) * Math.cos(angle) + Math.cos(lat) * Math.sin(angle) * Math.cos(bearing * RADIANS);
  const lon = Math.atan2(
    Math.sin(bearing * RADIANS) * Math.sin(angle) * Math.cos(lat),
    Math.cos(angle) - Math.sin(lat) * sine);
  return { lat: Math.asin(Math.max(-1, Math.min(1, sine))) / RADIANS, lon: from.lon + lon / RADIANS };
}

/** The outline of a circle as [lat, lon] whose longitudes do not jump. Around a pole it closes along the pole. */
export function circleOutline(center, meters, steps = 180) {
  const ring = [];
  for (let step = 0; step <= steps; step += 1) {
    const point = destination(center, meters, (step * 360) / steps);
    const lon = ring.length > 0 ? near(point.lon, ring[ring.length - 1][1]) : point.lon;
    ring.push([point.lat, lon]);
  }
  const turns = Math.round((ring[ring.length - 1][1] - ring[0][1]) / 360);
  if (turns === 0) return ring;
  const pole = (90 - Math.abs(center.lat)) * RADIANS * EARTH_RADIUS <= meters && center.lat >= 0 ? 90 : -90;
  return [...ring, [pole, ring[ring.length - 1][1]], [pole, ring[0][1]]];
}

/** Positions [lon, lat] as [lat, lon] whose longitudes go the short way from one to the next. */
export function unwrapped(positions) {
  const out = [];
  for (const [lon, lat] of positions) {
    out.push([lat, out.length > 0 ? near(lon, out[out.length - 1][1]) : lon]);
  }
  return out;
}

/** The great-circle arcs of a line, as [lat, lon] close enough together to look like arcs. */
export function arcs(positions) {
  const points = unwrapped(positions);
  const out = points.slice(0, 1);
  for (let index = 1; index < points.length; index += 1) {
    const [from, to] = [points[index - 1], points[index]];
    const steps = Math.max(1, Math.ceil(distanceBetween(latLon(from), latLon(to)) / 100000));
    for (let step = 1; step <= steps; step += 1) {
      const [lat, lon] = step === steps ? to : between(from, to, step / steps);
      out.push([lat, near(lon, out[out.length - 1][1])]);
    }
  }
  return out;
}

const latLon = ([lat, lon]) => ({ lat, lon });

function between(from, to, part) {
  const [a, b] = [vector(from), vector(to)];
  const angle = Math.acos(Math.max(-1, Math.min(1, a[0] * b[0] + a[1] * b[1] + a[2] * b[2])));
  const [p, q] = [Math.sin((1 - part) * angle), Math.sin(part * angle)];
  const [x, y, z] = a.map((value, index) => p * value + q * b[index]);
  return [Math.atan2(z, Math.hypot(x, y)) / RADIANS, Math.atan2(y, x) / RADIANS];
}

function vector([lat, lon]) {
  const across = Math.cos(lat * RADIANS);
  return [across * Math.cos(lon * RADIANS), across * Math.sin(lon * RADIANS), Math.sin(lat * RADIANS)];
}

/** The box of two corners whose longitudes may lie beyond ±180, as a `geobox` wants it. */
export function boxOf(a, b) {
  const [west, east] = [Math.min(a.lon, b.lon), Math.max(a.lon, b.lon)];
  const isWorld = east - west >= 360;
  return {
    sw: point(Math.min(a.lat, b.lat), isWorld ? -180 : wrapLongitude(west)),
    ne: point(Math.max(a.lat, b.lat), isWorld ? 180 : wrapLongitude(east)),
  };
}

export const point = (lat, lon) => ({ _type: "point", lat, lon });

/** The box's corners as [[south, west], [north, east]], east of west however they were written. */
export function cornersOf({ sw, ne }) {
  return [[sw.lat, sw.lon], [ne.lat, sw.lon > ne.lon ? ne.lon + 360 : ne.lon]];
}

/** A ring drawn on the map as positions of GeoJSON: closed, wrapped, no edge of half a turn or more. */
export function ringOf(points) {
  const closed = [...points, points[0]];
  const out = [];
  closed.forEach((to, index) => {
    const from = index > 0 ? closed[index - 1] : to;
    const pieces = Math.max(1, Math.floor(Math.abs(to.lon - from.lon) / 180) + 1);
    for (let piece = index > 0 ? 1 : pieces; piece <= pieces; piece += 1) {
      const part = piece / pieces;
      out.push([wrapLongitude(from.lon + (to.lon - from.lon) * part), from.lat + (to.lat - from.lat) * part]);
    }
  });
  return out;
}
