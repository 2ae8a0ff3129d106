// The query as commands to copy: for a shell, and for `nc`.
import { byID, copy } from "./dom.js";
import { commandLine, hostAndPort, netcatLine } from "./shell.js";

const KEY = "geobucket-line-port";
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]", ""]);

/** The page does not know the line port; it is usually 4362 of the same host. */
function usualServer() {
  const host = LOOPBACK.has(location.hostname) ? "127.0.0.1" : location.hostname;
  return `${host}:4362`;
}

export class Commands {
  /** @param request the params of `bucket.query` as the page sends them. */
  constructor(request) {
    this.request = request;
    const input = byID("line-port");
    input.value = stored() ?? usualServer();
    input.addEventListener("input", () => {
      const isValid = hostAndPort(input.value) !== null;
      input.setAttribute("aria-invalid", String(!isValid));
      if (!isValid) return;
      try { localStorage.setItem(KEY, input.value.trim()); } catch { /* It lasts as long as the page then. */ }
      this.show();
    });
    for (const name of ["shell", "line"]) {
      byID(`copy-${name}`).addEventListener("click", (event) =>
        copy(byID(`command-${name}`).textContent, event.currentTarget));
    }
  }

  show() {
    const params = this.request();
    if (!params) return;
    const server = hostAndPort(byID("line-port").value) ? byID("line-port").value.trim() : usualServer();
    const { bucket, bucketQuery, bestEffortLimit } = params;
    byID("command-shell").textContent = commandLine({ bucket, bucketQuery, limit: bestEffortLimit, server });
    byID("command-line").textContent = netcatLine({ jsonrpc: "2.0", id: 1, method: "bucket.query", params }, server);
  }
}

function stored() {
  try {
    const text = localStorage.getItem(KEY);
    return text && hostAndPort(text) ? text : null;
  } catch {
    return null;
  }
}
