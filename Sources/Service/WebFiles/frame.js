// What is around the parts of the page: panes of a phone, what folds and opens, the banner of a service that is gone.
import { byID, copy } from "./dom.js";
import { isLoggedIn } from "./login-mark.js";
import { counted } from "./text.js";

/** @param service whose absence the banner tells. */
export function wireFrame(service) {
  byID("link").addEventListener("click", (event) => copy(location.href, event.currentTarget));
  byID("keys").addEventListener("click", () => byID("keys-dialog").showModal());
  byID("fold").addEventListener("click", fold);
  byID("logout").hidden = !isLoggedIn();
  byID("logout").addEventListener("click", () => service.logOut());
  for (const tab of document.querySelectorAll(".tabs button")) {
    tab.addEventListener("click", () => showPane(tab.dataset.pane));
  }
  wireMenu(byID("columns"));
  wireBanner(service);
}

/** On a phone one of map, query and results is in front. */
export function showPane(pane) {
  document.body.dataset.pane = pane;
  for (const tab of document.querySelectorAll(".tabs button")) {
    tab.setAttribute("aria-pressed", String(tab.dataset.pane === pane));
  }
}

function fold() {
  const isFolded = document.body.classList.toggle("is-folded");
  byID("fold").textContent = isFolded ? "Show" : "Hide";
  byID("fold").setAttribute("aria-expanded", String(!isFolded));
}

/** A menu closes when something else is pressed or reached, and with Escape. */
function wireMenu(menu) {
  const close = ({ target }) => menu.contains(target) || menu.removeAttribute("open");
  document.addEventListener("pointerdown", close);
  document.addEventListener("focusin", close);
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.preventDefault();
    menu.removeAttribute("open");
    menu.querySelector("summary").focus();
  });
}

/** Escape closes, wherever the focus is: but not where it ends something else, such as typing or drawing. */
export function wireEscape(close) {
  document.addEventListener("keydown", (event) => {
    const isTaken = event.defaultPrevented || event.target.closest?.("input, select, textarea, dialog");
    if (event.key === "Escape" && !isTaken && !document.body.classList.contains("is-drawing")) close();
  });
}

function wireBanner(service) {
  const show = (isGone) => {
    byID("banner").hidden = !isGone;
    document.body.classList.toggle("is-gone", isGone);
  };
  service.addEventListener("gone", ({ detail: seconds }) => {
    byID("banner-text").textContent = `The service does not answer. Trying again in ${counted(seconds, "second")}.`;
    show(true);
  });
  service.addEventListener("back", () => show(false));
  byID("banner-try").addEventListener("click", () => service.tryNow());
}

/** A note over the map; an empty one is none. */
export function showNote(text) {
  byID("map-note").textContent = text;
  byID("map-note").hidden = text === "";
}
