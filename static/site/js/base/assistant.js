// How a page opens the assistant's widget. The widget loads after the page, and may be blocked or switched off.
// Nothing here waits for it: until it can be used, links that ask lead to /ask.

import { base } from "./address.js";
import { labels } from "./labels.js";

/** @typedef {{ enabled: boolean, appearance: DocsAssistant.Options }} Settings */

/** The widget's closing animation, in milliseconds. */
const CLOSE_DURATION = 200;

const script = document.querySelector("script[data-domain][data-key]");
const tag = script instanceof HTMLScriptElement ? script : null;

/** Whether the widget can be used now. */
export let isReady = false;

/** The owner's settings, once the widget can be used. It stays pending where the widget cannot be used. @type {Promise<Settings>} */
export const ready = new Promise((resolve) => {
  const showLink = () => document.querySelector(".ask-button")?.classList.add("only-way");
  if (!tag) return showLink();
  const check = async () => {
    // The same request as the widget's own, so that the browser has the response in its cache.
    const response = await fetch(`${base}/discovery/v1/widget/${tag.dataset.domain}`, { credentials: "omit" });
    const settings = await response.json();
    if (!settings.enabled) return showLink();
    isReady = true;
    resolve(settings);
  };
  const start = () => {
    if (labels.widget) window.DocsAssistant.update(labels.widget);
    check().catch(showLink);
  };
  if ("DocsAssistant" in window) start();
  else {
    tag.addEventListener("load", start, { once: true });
    tag.addEventListener("error", showLink, { once: true });
  }
});

/**
 * Where a node is: the path of the page, and the id of the heading above it.
 * @param {Node} node
 */
export function locate(node) {
  const isAbove = (/** @type {Element} */ heading) =>
    heading.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING;
  const headings = Array.from(document.querySelectorAll(".prose :is(h2, h3, h4)[id]"));
  const elementId = headings.filter(isAbove).at(-1)?.id;
  return { path: location.pathname, ...(elementId && { elementId }) };
}

/** @param {DocsAssistant.Context[]} [context] */
export const openAssistant = (context) => window.DocsAssistant.open(context && { context });

/**
 * Asks in a dialog over the page. After that the launcher opens the variant that it opened before.
 * @param {string} question
 */
export function askInDialog(question) {
  const restore = async () => {
    const { appearance } = await ready;
    const own = /** @type {DocsAssistant.Options["variant"]} */ (tag?.dataset.variant);
    window.DocsAssistant.update({ variant: own ?? appearance.variant ?? "widget", hooks: {} });
  };
  window.DocsAssistant.update({
    variant: "modal",
    hooks: {
      event: (name) => {
        if (name === "close") setTimeout(restore, CLOSE_DURATION);
      },
    },
  });
  window.DocsAssistant.ask(question);
}

document.addEventListener("click", (event) => {
  if (!isReady || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (!(event.target instanceof Element && event.target.closest("[data-ask]"))) return;
  event.preventDefault();
  openAssistant();
});
