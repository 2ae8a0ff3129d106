// The switch between light and dark.
import { byID } from "./dom.js";

const system = matchMedia("(prefers-color-scheme: dark)");

export const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

/** Calls `changed` whenever the page becomes light or dark. */
export function wireThemeSwitch(changed = () => {}) {
  const button = byID("theme");
  const show = () => {
    button.setAttribute("aria-checked", String(isDark()));
    changed();
  };
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("geobucket-theme", theme); } catch { /* It lasts as long as the page then. */ }
    show();
  });
  system.addEventListener("change", show);
  show();
}

/** What the colours of theme.css are now, for canvases: a colour by the name of its property. */
export function palette() {
  const probe = document.createElement("i");
  document.body.append(probe);
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const names = ["land", "water", "green", "settled", "built", "road", "border", "graticule", "place", "mark", "mark-ink", "mark-halo", "dot", "dot-edge",
    "chosen", "shape", "shape-fill", "enter", "leave", "label-halo", "ink"];
  const colours = Object.fromEntries(names.map((name) => [name, colour(name)]));
  probe.remove();
  return colours;
}
