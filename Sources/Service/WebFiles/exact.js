// JSON whose whole numbers keep their digits: the service has 64 bits for them, a JavaScript number 53.

/** A whole number that a JavaScript number cannot hold. */
export class ExactInteger {
  constructor(digits) {
    this.digits = digits;
  }
  toString() {
    return this.digits;
  }
  valueOf() {
    return Number(this.digits);
  }
  toJSON() {
    return JSON.rawJSON ? JSON.rawJSON(this.digits) : Number(this.digits);
  }
}

const isWhole = /^-?\d+$/;

function keepDigits(key, value, context) {
  const isLost = typeof value === "number" && !Number.isSafeInteger(value) && isWhole.test(context?.source ?? "");
  return isLost ? new ExactInteger(context.source) : value;
}

export const parseJSON = (text) => JSON.parse(text, keepDigits);

export const isNumber = (value) => typeof value === "number" || value instanceof ExactInteger;
