// Leaflet, which the service serves from Debian's package libjs-leaflet.

const FILES = ["assets/leaflet/leaflet.min.js", "assets/leaflet/leaflet.js"];

/** Leaflet's namespace, `null` if the package is not installed where the service runs. */
export async function loadLeaflet() {
  for (const file of FILES) {
    if (await isLoaded(file) && window.L) return window.L;
  }
  return null;
}

function isLoaded(file) {
  return new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = file;
    script.onload = () => resolve(true);
    script.onerror = () => resolve(false);
    document.head.append(script);
  });
}
