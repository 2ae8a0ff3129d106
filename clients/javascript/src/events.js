// Server-sent events (WHATWG HTML, 9.2) out of a stream of lines.
import { Lines } from "./lines.js";

/** Takes text, and calls `told(name, data)` with each event. Comments and other fields are passed over. */
export class EventReader {
  #lines;
  #told;
  #name = "";
  #data = [];

  constructor(limit, told) {
    this.#lines = new Lines(limit);
    this.#told = told;
  }

  push(text) {
    for (const line of this.#lines.push(text)) this.#read(line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  #read(line) {
    if (line === "") return this.#dispatch();
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (field === "event") this.#name = value;
    else if (field === "data") this.#data.push(value);
  }

  #dispatch() {
    const [name, data] = [this.#name, this.#data];
    this.#name = "";
    this.#data = [];
    if (data.length > 0) this.#told(name, data.join("\n"));
  }
}
