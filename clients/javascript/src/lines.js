// Lines out of text that comes in pieces.

export class Lines {
  #parts = [];
  #length = 0;
  #limit;

  /** @param limit characters of one line. */
  constructor(limit) {
    this.#limit = limit;
  }

  /** The lines that this piece ends, without their ends. Throws RangeError if one is too long. */
  push(text) {
    const end = text.lastIndexOf("\n");
    if (end < 0) {
      this.#keep(text);
      return [];
    }
    const whole = this.#parts.join("") + text.slice(0, end);
    this.#parts = [];
    this.#length = 0;
    this.#keep(text.slice(end + 1));
    return whole.split("\n");
  }

  #keep(text) {
    this.#length += text.length;
    if (this.#length > this.#limit) throw new RangeError(`a line of more than ${this.#limit} characters`);
    if (text) this.#parts.push(text);
  }
}
