/**
 * The script of the embed tag: it makes the global `DocsAssistant` and the widget. Errors are warnings in the console and
 * have no other effect on the host page. Only wrong arguments of a developer throw.
 */

import { warn } from "../base/console.js";
import { parseTagOptions, validateOptions } from "../base/options.js";
import { script, service, Widget } from "./widget.js";

const TAG = "docs-assistant";

function start() {
  /** @type {Widget | null} */
  let widget = null;
  /** @param {"open" | "close" | "ask" | "update" | "reset"} name */
  const call =
    (name) =>
    (/** @type {any[]} */ ...args) => {
      if (name === "ask" && typeof args[0] !== "string") throw new TypeError("ask() needs a text.");
      if (!widget) return warn(`call init() before ${name}().`);
      widget.attach();
      /** @type {any} */ (widget)[name](...args);
    };
  const api = {
    /** @param {Record<string, unknown>} options */
    init(options) {
      const { domain, key, ...rest } = Object(options);
      if (!domain || !key) throw new TypeError("init() needs domain and key.");
      if (widget) throw new Error("init() is done.");
      widget = new Widget({ domain, key, nonce: script.nonce, ...validateOptions(rest, service) });
      widget.start();
    },
    open: call("open"),
    close: call("close"),
    ask: call("ask"),
    update: call("update"),
    reset: call("reset"),
    destroy() {
      widget?.destroy();
      widget = null;
    },
  };
  customElements.define(TAG, Widget);
  Object.defineProperty(window, "DocsAssistant", { value: Object.freeze(api), configurable: true });
}

try {
  // An element of the page with the name `currentScript` would be found instead, and so may one with our name.
  if (!(script instanceof HTMLScriptElement)) throw "needs a classic script";
  // A second tag uses the widget of the first one.
  if (!customElements.get(TAG)) start();
  if (script.dataset.domain || script.dataset.key)
    /** @type {any} */ (window).DocsAssistant.init(parseTagOptions(script.dataset));
} catch (error) {
  warn(`${error}`);
}
