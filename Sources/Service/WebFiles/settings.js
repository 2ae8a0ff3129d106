// What the service says of itself to pages: its line port, its base map.

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]", ""]);

/** The page's settings; without an answer those of a usual service. */
export async function loadSettings() {
  const usual = { linePort: 4362, isLineEncrypted: false, hasGIS: true };
  try {
    return { ...usual, ...await (await fetch("map/settings.json")).json() };
  } catch {
    return usual;
  }
}

/** The line port, at the host of the page: its address, and whether it has TLS. */
export function serverOf({ linePort, isLineEncrypted }) {
  const host = LOOPBACK.has(location.hostname) ? "127.0.0.1" : location.hostname;
  return { server: `${host}:${linePort}`, isEncrypted: isLineEncrypted };
}
