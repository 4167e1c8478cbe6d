// The ways to the assistant's widget, which speaks the page's language. It loads after the page, may be blocked or
// switched off, and nothing here waits for it: until it can be used, links that ask lead to /ask.

import { words } from "./labels.js";

/** After closing it fades, in milliseconds. */
const FADE = 200;

const script = document.querySelector("script[data-domain][data-key]");

/** Whether the widget can be used now. */
export let isReady = false;

/** The owner's settings, once the widget can be used; pending forever where it cannot. */
export const ready = new Promise((resolve) => {
  if (!script) return;
  const look = async () => {
    // As the widget fetches them, so that the browser still has the answer.
    const settings = await fetch(`/discovery/v1/widget/${script.dataset.domain}`, { credentials: "omit" }).then(
      (answer) => answer.json(),
    );
    if (!settings.enabled) return;
    isReady = true;
    resolve(settings);
  };
  const arrived = () => {
    if (words.widget) window.DocsAssistant.update(words.widget);
    look().catch(() => {});
  };
  if (window.DocsAssistant) arrived();
  else script.addEventListener("load", arrived, { once: true });
});

/** What stands at a place of the page: its path, and the id of the heading above it. */
export function place(node) {
  const above = (heading) => heading.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING;
  const elementId = Array.from(document.querySelectorAll(".prose :is(h2, h3, h4)[id]")).filter(above).at(-1)?.id;
  return { path: location.pathname, ...(elementId && { elementId }) };
}

export const open = (context) => window.DocsAssistant.open(context && { context });

/** Asks in a dialog over the page; the launcher then opens what it always opened. */
export function askOver(question) {
  const restore = async () => {
    const { appearance } = await ready;
    const variant = script.dataset.variant ?? appearance.variant ?? "widget";
    window.DocsAssistant.update({ variant, hooks: {} });
  };
  const event = (name) => name === "close" && setTimeout(restore, FADE);
  window.DocsAssistant.update({ variant: "modal", hooks: { event } });
  window.DocsAssistant.ask(question);
}

document.addEventListener("click", (event) => {
  if (!isReady || event.ctrlKey || event.metaKey || event.shiftKey || !event.target.closest?.("[data-ask]")) return;
  event.preventDefault();
  open();
});
