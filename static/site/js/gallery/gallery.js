// Every state of the widget: its real panel with a conversation of the gallery, whose store and client do nothing.

import { find, h } from "../base/dom.js";
import { buildStories } from "./stories.js";

/** @typedef {typeof import("../../../widget/src/panel/panel.js")} PanelModule */

const gallery = find(document, "[data-gallery]", HTMLElement);
const { create } = /** @type {PanelModule} */ (await import(gallery.dataset.gallery ?? ""));

/** @typedef {import("../../../widget/src/panel/panel.js").Services} Services */

/** An object with these methods, whose other methods do nothing. @param {object} methods */
const stub = (methods) =>
  new Proxy(methods, { get: (target, name) => (name in target ? Reflect.get(target, name) : () => {}) });

/** What readers do in the panels. @type {unknown[]} */
const acts = [];
const isNarrow = matchMedia("(max-width: 639.98px)");

for (const { name, title, about, thread, past, options, act } of buildStories(location.origin)) {
  /** @type {Services} */
  const services = {
    store: /** @type {Services["store"]} */ (
      stub({ load: () => thread ?? null, fp: () => "gallery", listPast: () => past ?? [] })
    ),
    client: /** @type {Services["client"]} */ (stub({ rate: async () => true, forget: async () => true })),
  };
  const panel = create({ ...options, domain: "gallery", key: "" }, location.href, services);
  const show = () => {
    panel.show({ focus: false });
    acts.push(panel.transcript.ready.then(() => act?.(panel)));
  };
  const update = () => {
    // A panel covers all of a small screen, so readers open each one there.
    if (isNarrow.matches) panel.hide();
    else show();
  };
  const button = h("button", { type: "button" }, "Show");
  button.addEventListener("click", show);
  const caption = h("figcaption", {}, h("h2", {}, title), h("p", {}, about), button);
  const stage = h("div", { className: "stage", id: `state-${name}` }, panel);
  gallery.append(h("figure", {}, caption, stage));
  isNarrow.addEventListener("change", update);
  update();
}

await Promise.all(acts);
// Menus and pages take the focus when they open, but here no reader opened them.
if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
scrollTo({ top: 0, behavior: "instant" });
