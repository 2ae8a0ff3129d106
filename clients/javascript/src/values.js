// Values of objects that JSON has no spelling of its own for.

/** A GeoPoint: degrees, WGS 84. */
export const point = (lat, lon) => ({ _type: "point", lat, lon });

/** The place of an object that moves, as the centre of `near` in a watch. */
export const objectAt = (bucket, id, field) => ({ _type: "object", bucket, _id: id, field });

/** A place as `[latitude, longitude]`, `{lat, lon}`, `{lat, lng}`, a GeoPoint, or `objectAt`. */
export function toPoint(place) {
  if (Array.isArray(place)) return point(place[0], place[1]);
  return place._type === undefined ? point(place.lat, place.lon ?? place.lng) : place;
}

/** A time as the service has it: milliseconds since 1970. */
export const milliseconds = (time) => (time instanceof Date ? time.getTime() : time);
