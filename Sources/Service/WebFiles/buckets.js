// The list of buckets with their counts, and a field for buckets of other scopes.
import { byID, element } from "./dom.js";
import { errorSentence } from "./sentences.js";
import { loadCommand } from "./shell.js";
import { count } from "./text.js";

const scopeOf = (bucket) => (bucket.includes("/") ? bucket.slice(0, bucket.lastIndexOf("/")) : null);

/** The buckets of a scope, or of the application: pages of {buckets, isLast}. */
export async function* pagesOfBuckets(service, scope = null) {
  let paginationKey;
  do {
    const params = { ...(scope ? { scope } : {}), ...(paginationKey ? { paginationKey } : {}) };
    const page = await service.call("bucket.list", params);
    paginationKey = page.nextPaginationKey;
    yield { buckets: page.buckets, isLast: !paginationKey };
  } while (paginationKey);
}

export class Buckets {
  /** @param server the line port as `HOST:PORT`, as it is when it is asked for. */
  constructor({ model, service, server, open }) {
    Object.assign(this, { model, service, server, open, scopes: new Map() });
    byID("bucket-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const input = byID("bucket-name");
      const name = input.value.trim();
      if (name) this.open(name);
      input.value = "";
    });
    model.on(["bucket"], () => this.#show());
  }

  /** Asks for the application's own buckets, and for those beside a bucket that is open. */
  async load() {
    const wanted = new Set([null, ...this.scopes.keys(), ...(this.model.bucket ? [scopeOf(this.model.bucket)] : [])]);
    const error = byID("buckets-error");
    try {
      for (const scope of wanted) this.scopes.set(scope, await this.#list(scope));
      error.hidden = true;
    } catch (failure) {
      if (failure.isGone) return;
      error.textContent = errorSentence(failure);
      error.hidden = false;
    }
    this.#show();
  }

  async #list(scope) {
    const buckets = [];
    for await (const page of pagesOfBuckets(this.service, scope)) buckets.push(...page.buckets);
    return buckets;
  }

  /** What is known of a bucket, `undefined` if it is not in a list. */
  find(name) {
    return [...this.scopes.values()].flat().find(({ bucket }) => bucket === name);
  }

  /** The bucket that a page without one in its address opens: the one with the most objects that have places. */
  get first() {
    const own = this.scopes.get(null) ?? [];
    const placed = own.filter(({ geoFields }) => geoFields.length > 0);
    const larger = (best, next) => (!best || next.objects > best.objects ? next : best);
    return (placed.length > 0 ? placed : own).reduce(larger, null);
  }

  #show() {
    const { bucket } = this.model;
    const items = [...this.scopes.values()].flat();
    if (bucket && !items.some((item) => item.bucket === bucket)) items.push({ bucket, objects: 0, geoFields: [] });
    const list = byID("buckets");
    const { scrollTop } = list;
    list.replaceChildren(...(items.length > 0 ? items.map((item) => this.#item(item)) : [this.#none()]));
    list.scrollTop = scrollTop;
    byID("buckets-count").textContent = items.length > 1 ? count(items.length) : "";
    if (bucket === this.shownBucket) return;
    this.shownBucket = bucket;
    list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  #none() {
    return element("li", { class: "hint" }, "There are no buckets yet. This makes one:",
      element("pre", {}, loadCommand(this.server())));
  }

  #item({ bucket, objects }) {
    const isOpen = bucket === this.model.bucket;
    const attributes = { type: "button", class: "bucket", "aria-current": isOpen && "true", onclick: () => this.open(bucket) };
    return element("li", {}, element("button", attributes, element("span", { class: "bucket-name" }, bucket),
      element("span", { class: "bucket-count" }, count(objects))));
  }
}
