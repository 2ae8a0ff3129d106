// The results of the query: pages from the service into the table, how many match, how long it took.
import { byID } from "./dom.js";
import { count, counted, duration } from "./text.js";

export const PAGE = 50;

export class Results {
  #run = null;

  /**
   * @param shown called when a first page is in the table.
   * @param failed called with an error of the service, and with `null` when a query went well.
   */
  constructor({ service, table, shown, failed }) {
    Object.assign(this, { service, table, shown, failed, key: null, isLoading: false });
    byID("more").addEventListener("click", () => this.more());
    const frame = byID("table-frame");
    frame.addEventListener("scroll", () => {
      const isNearEnd = frame.scrollTop + frame.clientHeight > frame.scrollHeight - 240;
      if (isNearEnd && this.key) this.more();
    }, { passive: true });
  }

  /** Asks for the first page of a request, and how many objects match. */
  async start(request, distances) {
    this.#run?.abort();
    const run = new AbortController();
    this.#run = run;
    this.request = request;
    document.body.classList.add("is-searching");
    try {
      const { signal } = run;
      const both = await Promise.all([this.service.timed("bucket.query", request, signal), this.#count(request, signal)]);
      const [{ result, milliseconds }, total] = both;
      this.failed(null);
      this.#show(result, distances, total, milliseconds);
    } catch (error) {
      if (error.name !== "AbortError") this.#fail(error);
    } finally {
      if (this.#run === run) document.body.classList.remove("is-searching");
    }
  }

  stop() {
    this.#run?.abort();
    document.body.classList.remove("is-searching");
    this.key = null;
    byID("more").hidden = true;
    byID("results-end").textContent = "";
  }

  async #count({ bucket, bucketQuery }, signal) {
    const { clause } = bucketQuery;
    return (await this.service.call("bucket.count", { bucket, bucketQuery: clause ? { clause } : {} }, signal)).count;
  }

  #show({ results, nextPaginationKey = null }, distances, total, milliseconds) {
    Object.assign(this, { key: nextPaginationKey, total, loaded: results.length });
    byID("results-error").hidden = true;
    byID("table-frame").scrollTop = 0;
    this.table.set(results, { distances });
    byID("summary").textContent = total === 0 ? `No object matches. Answered in ${duration(milliseconds)}.`
      : `${counted(total, "object matches", "objects match")}. Answered in ${duration(milliseconds)}.`;
    this.#showEnd();
    this.shown();
  }

  #fail(error) {
    this.failed(error);
    if (error.isGone) return;
    this.key = null;
    this.table.clear();
    byID("summary").textContent = "";
    byID("results-end").textContent = "";
    byID("more").hidden = true;
  }

  #showEnd() {
    byID("more").hidden = this.key === null;
    byID("more").textContent = `More (${count(this.loaded)} of ${count(this.total)})`;
    const isAll = this.key === null && this.loaded > 0;
    byID("results-end").textContent = isAll ? `That is all: ${counted(this.loaded, "object")}.` : "";
  }

  /** The next page. The page key holds the place, whatever is written meanwhile. */
  async more() {
    if (this.isLoading || this.key === null) return;
    this.isLoading = true;
    const { key } = this;
    try {
      const answer = await this.service.call("bucket.query", { ...this.request, paginationKey: key });
      if (this.key !== key) return;
      this.key = answer.nextPaginationKey ?? null;
      this.loaded += answer.results.length;
      this.table.append(answer.results);
      this.#showEnd();
    } catch (error) {
      this.failed(error);
    } finally {
      this.isLoading = false;
    }
  }
}
