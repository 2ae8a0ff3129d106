// Elements, made without HTML: what comes from data is text.

/** An element with attributes, listeners (`onclick`) and children; `false` and `null` leave either out. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== false && child !== undefined));
  return made;
}

export const byID = (id) => document.getElementById(id);

/** A symbol of the page's own drawing, from `<symbol id="icon-NAME">`. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** Calls the function once, so long after the last call; `cancel` forgets the call. */
export function debounced(milliseconds, run) {
  let timer = null;
  const call = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), milliseconds);
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}

/** Copies a text and says so on the button. */
export async function copy(text, button) {
  flash(button, (await isCopied(text)) ? "Copied" : "Not permitted");
}

/** Pages without TLS have no clipboard to write to, but may copy what is selected. */
async function isCopied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { class: "hidden", readonly: true }, text);
    const focused = document.activeElement;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    focused?.focus();
    return isDone;
  }
}

function flash(button, words) {
  const label = button.querySelector("[data-label]") ?? button;
  button.dataset.words ??= label.textContent;
  label.textContent = words;
  clearTimeout(Number(button.dataset.timer));
  button.dataset.timer = setTimeout(() => { label.textContent = button.dataset.words; }, 1600);
}

const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");

export const prefersLessMotion = () => lessMotion.matches;
