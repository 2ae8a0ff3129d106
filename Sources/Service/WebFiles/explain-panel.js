// "How it runs": what the service says of the query, in sentences, when it is wanted.
import { byID, element } from "./dom.js";
import { errorSentence, explanation } from "./sentences.js";

export class ExplainPanel {
  #run = 0;

  constructor(service, request) {
    Object.assign(this, { service, request });
    byID("explain-card").addEventListener("toggle", () => this.load());
  }

  async load() {
    const params = this.request();
    if (!byID("explain-card").open || !params) return;
    this.#run += 1;
    const run = this.#run;
    const sentences = await this.#sentences(params);
    if (run === this.#run && sentences) {
      byID("explain").replaceChildren(...sentences.map((sentence) => element("li", {}, sentence)));
    }
  }

  async #sentences(params) {
    try {
      return explanation(await this.service.call("bucket.explain", { ...params, analyze: true }));
    } catch (error) {
      return error.isGone ? null : [errorSentence(error)];
    }
  }
}
