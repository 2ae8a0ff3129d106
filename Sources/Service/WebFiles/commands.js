// The query as commands to copy: for a shell, and for `nc`.
import { byID, copy } from "./dom.js";
import { serverOf } from "./settings.js";
import { commandLine, hostAndPort, netcatLine } from "./shell.js";

const KEY = "geobucket-line-port";

export class Commands {
  /**
   * @param request the params of `bucket.query` as the page sends them.
   * @param settings the page's: which port is the line port, and whether it has TLS.
   */
  constructor(request, settings) {
    const { server: usualServer, isEncrypted } = serverOf(settings);
    Object.assign(this, { request, usualServer, isEncrypted });
    const input = byID("line-port");
    input.value = stored() ?? this.usualServer;
    byID("netcat").hidden = isEncrypted;
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

  /** The line port: its address, and whether it has TLS. */
  get server() {
    const typed = byID("line-port").value;
    return { server: hostAndPort(typed) ? typed.trim() : this.usualServer, isEncrypted: this.isEncrypted };
  }

  show() {
    const params = this.request();
    if (!params) return;
    const { server, isEncrypted } = this.server;
    const { bucket, bucketQuery, bestEffortLimit: limit } = params;
    byID("command-shell").textContent = commandLine({ bucket, bucketQuery, limit, server, isEncrypted });
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
