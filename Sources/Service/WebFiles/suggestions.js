// Values of a field to choose from: the most frequent ones, by the service's own count.
import { element } from "./dom.js";
import { count, inputText } from "./text.js";

const VALUES = 100;

export class Suggestions {
  #known = new Map();

  constructor(model, service) {
    Object.assign(this, { model, service });
    model.on(["bucket"], () => this.#known.clear());
  }

  /** Fills a `<datalist>` with the values of a field; without an answer it stays as it is. */
  async fill(list, field) {
    const key = `${this.model.bucket} ${field}`;
    if (!this.#known.has(key)) this.#known.set(key, this.#ask(field));
    const values = await this.#known.get(key);
    const types = this.model.typesOf(field);
    list.replaceChildren(...values.map((entry) => {
      const text = inputText(entry.value, types);
      return element("option", { value: text, label: `${text}  (${count(entry.count)})` });
    }));
  }

  async #ask(field) {
    const aggregations = [{ type: "GROUP", field, limit: VALUES, putAggregationInto: "values" }];
    try {
      const params = { bucket: this.model.bucket, bucketQuery: { aggregations } };
      const answer = await this.service.call("bucket.query", params);
      return answer.aggregations.values.values;
    } catch {
      return [];
    }
  }
}
