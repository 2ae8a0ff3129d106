// Time and chance, as the channels take them; tests have others.
export const systemClock = {
  now: () => performance.now(),
  // Timers take 31 bits; what is later never comes.
  after: (milliseconds, action) => (milliseconds < 2 ** 31 ? setTimeout(action, milliseconds) : undefined),
  cancel: (timer) => clearTimeout(timer),
  soon: globalThis.setImmediate ?? ((action) => setTimeout(action, 0)),
  random: Math.random,
};
