// The first page: the buckets, where each is found, and what to paste into other programs.
import { pagesOfBuckets } from "./buckets.js";
import { byID, copy, element } from "./dom.js";
import { isLoggedIn } from "./login-mark.js";
import { linesFor, linksOf } from "./open-with.js";
import { errorSentence } from "./sentences.js";
import { Service } from "./service.js";
import { loadSettings, serverOf } from "./settings.js";
import { loadCommand } from "./shell.js";
import { count, counted } from "./text.js";

const service = new Service({ view: () => "#catalogue" });
const settings = await loadSettings();
const buckets = new Map();
const pages = pagesOfBuckets(service);

function row(item) {
  const links = linksOf(item, settings.hasGIS).map(({ text, href }) => element("a", { href }, text));
  return element("li", {}, element("a", { class: "name", href: links[0].href }, item.bucket),
    element("span", { class: "figure" }, counted(item.objects, "object")),
    element("span", { class: "links" }, ...links));
}

function showLines() {
  const about = { base: new URL(".", document.baseURI).href, server: serverOf(settings), hasGIS: settings.hasGIS, hasLogins: isLoggedIn() };
  const lines = linesFor(buckets.get(byID("bucket").value), about);
  byID("lines").replaceChildren(...lines.flatMap(({ program, note, text }) => {
    const button = element("button", { type: "button", "aria-label": `Copy for ${program}`, onclick: (event) => copy(text, event.currentTarget) },
      element("span", { "data-label": true }, "Copy"));
    return [element("dt", {}, program),
      element("dd", {}, note && element("p", { class: "hint" }, note), element("div", { class: "command" }, element("pre", { tabindex: "0" }, text), button))];
  }));
}

async function showNext() {
  const { value } = await pages.next();
  for (const item of value.buckets) {
    buckets.set(item.bucket, item);
    byID("buckets").append(row(item));
    byID("bucket").append(element("option", { value: item.bucket }, item.bucket));
  }
  byID("more").hidden = value.isLast;
  byID("count").textContent = buckets.size > 0 ? count(buckets.size) + (byID("more").hidden ? "" : " and more") : "";
  byID("programs").hidden = buckets.size === 0;
  if (buckets.size === 0) showNone();
}

function showNone() {
  byID("empty").hidden = false;
  byID("buckets").replaceChildren(element("li", {}, element("pre", {}, loadCommand(serverOf(settings)))));
}

/** The bucket that most people want to see: the one with the most objects that have places. */
function largest() {
  const placed = [...buckets.values()].filter(({ geoFields }) => geoFields.length > 0);
  return (placed.length > 0 ? placed : [...buckets.values()]).reduce((best, next) => (next.objects > best.objects ? next : best));
}

async function run() {
  byID("features").hidden = !settings.hasGIS;
  byID("logout").hidden = !isLoggedIn();
  byID("logout").addEventListener("click", () => service.logOut());
  byID("more").addEventListener("click", () => attempt(showNext));
  byID("bucket").addEventListener("change", showLines);
  await attempt(async () => {
    const { version, store } = await service.call("server.info");
    byID("about").textContent = `${version} · ${store}`;
    await showNext();
    if (buckets.size === 0) return;
    byID("bucket").value = largest().bucket;
    showLines();
  });
}

async function attempt(act) {
  byID("error").hidden = true;
  try {
    await act();
  } catch (error) {
    byID("error").textContent = errorSentence(error);
    byID("error").hidden = false;
  }
}

await run();
