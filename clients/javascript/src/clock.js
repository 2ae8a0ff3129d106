// Time and chance, as the channels take them; tests have others.
export const systemClock = {
  now: () => performance.now(),
  after: (milliseconds, action) => setTimeout(action, milliseconds),
  cancel: (timer) => clearTimeout(timer),
  soon: globalThis.setImmediate ?? ((action) => setTimeout(action, 0)),
  random: Math.random,
};
