// How long to wait before the next try: twice as long each time, up to half a minute.

const FIRST = 1;
const LONGEST = 30;

/** Seconds before the try that follows so many failed ones. */
export const secondsBefore = (failures) => Math.min(LONGEST, FIRST * 2 ** Math.max(0, failures - 1));
