// The results of the query: pages from the service into the table, how many match, how long it took.
import { byID } from "./dom.js";
import { ownPath } from "./query.js";
import { errorSentence } from "./sentences.js";
import { count, counted, duration } from "./text.js";

export const PAGE = 50;

export class Results {
  #run = null;

  /**
   * @param shown called when a first page is in the table; `missed` with why nothing matches, in sentences, if that is
   *   known.
   * @param failed called with an error of the service, and with `null` when a query went well.
   */
  constructor({ service, table, shown, missed, failed }) {
    Object.assign(this, { service, table, shown, missed, failed, next: null, isLoading: false });
    byID("more").addEventListener("click", () => this.more());
    const frame = byID("table-frame");
    frame.addEventListener("scroll", () => {
      const isNearEnd = frame.scrollTop + frame.clientHeight > frame.scrollHeight - 240;
      if (isNearEnd && this.next) this.more();
    }, { passive: true });
  }

  /**
   * Asks for the first page of a request, and how many objects match.
   *
   * @param leftOut `null`, or what a request that is ordered by the distance from the middle of the map leaves out: the
   *   clauses of `all` that match and of the `rest`, which come after those of the request.
   */
  async start(request, distances, leftOut) {
    this.#run?.abort();
    const run = new AbortController();
    this.#run = run;
    document.body.classList.add("is-searching");
    try {
      const { signal } = run;
      const [{ result, milliseconds }, ...counts] = await Promise.all([
        this.#query(request, leftOut, signal), ...this.#counts(request, leftOut, signal)]);
      this.failed(null);
      await this.#show({ request, result, leftOut, milliseconds }, distances, counts);
      if (this.total === 0) await this.#explain(leftOut ? leftOut.all : request.bucketQuery.clause, request, signal);
    } catch (error) {
      if (error.name !== "AbortError") this.#fail(error);
    } finally {
      if (this.#run === run) document.body.classList.remove("is-searching");
    }
  }

  stop() {
    this.#run?.abort();
    document.body.classList.remove("is-searching");
    this.#forgetPages();
  }

  #forgetPages() {
    this.next = null;
    for (const id of ["more", "placeless"]) byID(id).hidden = true;
    byID("results-end").textContent = "";
  }

  async #query(request, leftOut, signal) {
    try {
      return await this.service.timed("bucket.query", request, signal);
    } catch (error) {
      if (leftOut) error.path = ownPath(error.path, leftOut.all);
      throw error;
    }
  }

  /** How many objects match, and how many of them have a place, if that makes a difference. */
  #counts({ bucket, bucketQuery }, leftOut, signal) {
    const clauses = leftOut ? [leftOut.all, bucketQuery.clause] : [bucketQuery.clause];
    return clauses.map(async (clause) =>
      (await this.service.call("bucket.count", { bucket, bucketQuery: clause ? { clause } : {} }, signal)).count);
  }

  /** Says why nothing matches. That is asked for only then, because it costs the service a look at the objects. */
  async #explain(clause, { bucket }, signal) {
    const params = { bucket, bucketQuery: clause ? { clause } : {}, hints: true };
    const { hints = [] } = await this.service.call("bucket.count", params, signal).catch(() => ({}));
    if (hints.length === 0) return;
    const sentences = hints.map((hint) => errorSentence(hint)).join(" ");
    byID("summary").textContent = `No object matches. ${sentences}`;
    this.missed(sentences);
  }

  async #show({ request, result, leftOut, milliseconds }, distances, [total, placed = total]) {
    const rest = placed < total ? { ...request, bucketQuery: { clause: leftOut.rest } } : null;
    Object.assign(this, { total, rest, loaded: result.results.length });
    this.#turnTo(result, request);
    byID("results-error").hidden = true;
    byID("table-frame").scrollTop = 0;
    this.table.set(result.results, { distances });
    byID("summary").textContent = `${matching(total, total - placed)} Answered in ${duration(milliseconds)}.`;
    byID("placeless").hidden = rest === null;
    byID("placeless").textContent = `Show ${total - placed === 1 ? "it" : `these ${count(total - placed)}`}`;
    this.#showEnd();
    this.shown();
    if (this.loaded === 0 && this.next) await this.more();
  }

  /** The request for the page after an answer: of the same objects, then of those that the order leaves out. */
  #turnTo({ nextPaginationKey: paginationKey }, request) {
    this.next = paginationKey ? { ...request, paginationKey } : this.rest;
    if (this.next === this.rest) this.rest = null;
  }

  #fail(error) {
    this.failed(error);
    if (error.isGone) return;
    this.#forgetPages();
    this.table.clear();
    byID("summary").textContent = "";
  }

  #showEnd() {
    byID("more").hidden = this.next === null;
    byID("more").textContent = `More (${count(this.loaded)} of ${count(this.total)})`;
    const isAll = this.next === null && this.loaded > 0;
    byID("results-end").textContent = isAll ? `That is all: ${counted(this.loaded, "object")}.` : "";
  }

  /** The next page. The page key holds the place, whatever is written meanwhile. */
  async more() {
    if (this.isLoading || this.next === null) return;
    this.isLoading = true;
    const { next } = this;
    try {
      const answer = await this.service.call("bucket.query", next);
      if (this.next !== next) return;
      this.#turnTo(answer, next);
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

function matching(total, placeless) {
  if (total === 0) return "No object matches.";
  const all = counted(total, "object matches", "objects match");
  if (placeless === 0) return `${all}.`;
  return placeless === total ? `${all}, without a place.` : `${all}, ${count(placeless)} of them without a place.`;
}
