// From an address to a service.
import { systemClock } from "./clock.js";
import { Database } from "./database.js";
import { InvalidInput } from "./errors.js";
import { HTTPChannel } from "./http-channel.js";
import { parseExact } from "./json.js";
import { LineChannel } from "./line-channel.js";
import { DEFAULTS } from "./policy.js";
import { Service } from "./service.js";

/**
 * Connects to a service: `geobucket://host:4362`, `geobuckets://…` with TLS, or the `http://` or `https://` address
 * of its web port. Several addresses, in an array, are of one service; when one does not answer, the next is tried.
 */
export async function connect(addresses, options = {}) {
  const database = await open(addresses, options);
  try {
    await database.ping({ timeout: options.connectTimeout ?? DEFAULTS.connectTimeout, signal: options.signal });
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A service that is connected to with the first call. */
export async function open(addresses, options) {
  const list = [addresses].flat().map(parseAddress);
  const isHTTP = list[0]?.isHTTP;
  if (list.length === 0 || list.some((address) => address.isHTTP !== isHTTP)) {
    throw new InvalidInput("expected addresses, all of lines or all of HTTP", "addresses");
  }
  const common = {
    addresses: list, clock: systemClock, options: { ...DEFAULTS, ...options },
    parse: options.bigint ? parseExact : JSON.parse,
    token: options.token === undefined ? undefined : tokenOf(options.token),
    renewsToken: typeof options.token === "function",
  };
  const makeChannel = isHTTP ? overHTTP(common) : await overLines(common);
  const key = options.requestKeys === false ? null : await randomText();
  return new Database(new Service({ makeChannel, key }));
}

const tokenOf = (token) => async () => (typeof token === "function" ? token() : token);

function overHTTP(common) {
  const fetch = common.options.fetch ?? ((...request) => globalThis.fetch(...request));
  return () => new HTTPChannel({ ...common, fetch });
}

async function overLines(common) {
  // Browsers have no sockets, and do not come here.
  const { dial } = await import("./sockets.js");
  return () => new LineChannel({ ...common, dial: (address, events) => dial(address, events, common.options.tls) });
}

/** `{name, isHTTP, url}` or `{name, isHTTP, host, port, isSecure}`. */
export function parseAddress(text) {
  let url;
  try {
    url = new URL(/^[a-z]+:\/\//.test(text) ? text : `geobucket://${text}`);
  } catch (cause) {
    throw new InvalidInput(`"${text}" is no address such as geobucket://localhost:4362`, "addresses");
  }
  const { protocol, hostname, port, pathname } = url;
  if (protocol === "http:" || protocol === "https:") {
    const folder = pathname.endsWith("/") ? pathname : `${pathname}/`;
    return { name: text, isHTTP: true, url: url.origin + folder };
  }
  if ((protocol !== "geobucket:" && protocol !== "geobuckets:") || hostname === "") {
    throw new InvalidInput(`"${text}" is no address such as geobucket://localhost:4362`, "addresses");
  }
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return { name: text, isHTTP: false, host, port: Number(port || 4362), isSecure: protocol === "geobuckets:" };
}

/** 128 random bits. Node 18 has no global `crypto`. */
async function randomText() {
  const crypto = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join("");
}
