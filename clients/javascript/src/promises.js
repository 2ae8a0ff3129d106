// Promises that an AbortSignal ends.

/** The value of a promise, or the reason of an abort before it. */
export function unlessAborted(promise, signal) {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    const clear = () => signal.removeEventListener("abort", abort);
    promise.then(resolve, reject).then(clear);
  });
}

/** Aborts with what aborts a source. Returns what ends that. */
export function follow(source, controller) {
  const abort = () => controller.abort(source.reason);
  if (source.aborted) abort();
  else source.addEventListener("abort", abort, { once: true });
  return () => source.removeEventListener("abort", abort);
}

/** At most so many at once; others wait for their turn. */
export class Turns {
  #free;
  #waiting = new Set();

  constructor(count) {
    this.#free = count;
  }

  /** Runs an action when it is its turn. */
  async take(signal, action) {
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    try {
      return await action();
    } finally {
      this.#pass();
    }
  }

  async #wait(signal) {
    let enter;
    const turn = new Promise((resolve) => { enter = resolve; });
    this.#waiting.add(enter);
    try {
      await unlessAborted(turn, signal);
    } catch (error) {
      // Whose turn has come meanwhile gives it to the next.
      if (!this.#waiting.delete(enter)) this.#pass();
      throw error;
    }
  }

  #pass() {
    const [next] = this.#waiting;
    if (!next) this.#free += 1;
    else if (this.#waiting.delete(next)) next();
  }
}
