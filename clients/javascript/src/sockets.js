// Connections of Node: TCP and TLS. Deno and Bun have them too.
import net from "node:net";
import tls from "node:tls";

/** Bytes that wait for the network; beyond them nothing more is written until they are gone. */
const FULL = 1 << 20;

/** Opens a link to `{host, port, isSecure}` as `LineChannel` wants it. `security` is what `tls.connect` takes. */
export function dial({ host, port, isSecure }, { opened, received, drained, closed }, security = {}) {
  const servername = net.isIP(host) ? undefined : host;
  const socket = isSecure
    ? tls.connect({ servername, ...security, host, port })
    : net.connect({ host, port });
  let failure;
  socket.setEncoding("utf8");
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 30_000);
  socket.on(isSecure ? "secureConnect" : "connect", opened);
  socket.on("data", received);
  socket.on("drain", drained);
  socket.on("end", () => socket.destroy());
  socket.on("error", (error) => { failure = error; });
  socket.on("close", () => closed(failure));
  return {
    write: (text) => {
      socket.write(text);
      return socket.writableLength < FULL;
    },
    close: () => socket.destroy(),
  };
}
