// How many events a second, over the last few seconds.

export class Rate {
  /** @param seconds how far back it looks. */
  constructor(seconds = 5) {
    this.span = seconds * 1000;
    this.batches = [];
    this.start = null;
  }

  add(events, now) {
    this.start ??= now;
    if (events > 0) this.batches.push({ events, now });
  }

  /** Before a whole span has passed, the mean of the time since the first `add`, at least of a second. */
  perSecond(now) {
    this.batches = this.batches.filter((batch) => now - batch.now < this.span);
    const events = this.batches.reduce((sum, batch) => sum + batch.events, 0);
    const span = this.start === null ? this.span : Math.max(1000, Math.min(this.span, now - this.start));
    return (events * 1000) / span;
  }
}

export function rateText(perSecond) {
  return perSecond === 0 || perSecond >= 10 ? String(Math.round(perSecond)) : perSecond.toFixed(1);
}
