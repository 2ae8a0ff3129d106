// Light or dark, before the page is drawn: as the system has it, unless the switch has said otherwise.
// A plain script, so that it runs first; the switch itself is in theme-switch.js.

try {
  const chosen = localStorage.getItem("geobucket-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing for the page shows the system's theme.
}
