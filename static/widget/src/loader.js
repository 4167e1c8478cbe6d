/**
 * The script of the embed tag. It draws the launcher and fetches the panel when someone is about to use it.
 * Whatever goes wrong here is a warning in the console and nothing else to the host page.
 */
import { h, icon, sheet } from "./dom.js";
import css from "./loader.css";
import { store } from "./store.js";
import { watchTheme } from "./theme.js";
import { words } from "./words.js";

/** @typedef {import("./panel.js").Panel} Panel */
/** @typedef {{ domain: string, key: string, script: string }} Options where the tag points, and for whom */

const TAG = "docs-assistant";

class DocsAssistant extends HTMLElement {
  #root = this.attachShadow({ mode: "closed" });
  #attempts = 0;
  /** @type {Promise<Panel> | null} */
  #panel = null;
  /** @type {(() => void) | null} */
  #unwatch = null;
  /** @type {HTMLElement | null} */
  #home = null;
  #options;
  #launcher;

  /** @param {Options} options */
  constructor(options) {
    super();
    this.#options = options;
    const preload = () => void this.#load().catch(() => {});
    this.#launcher = h(
      "button",
      {
        type: "button",
        part: "launcher",
        "aria-label": words.name,
        "aria-haspopup": "dialog",
        "aria-expanded": "false",
        onpointerenter: preload,
        onfocus: preload,
        onclick: () => this.open(),
      },
      icon("ask"),
      h("span", {}, words.launcher),
    );
    this.#root.adoptedStyleSheets = [sheet(css)];
    this.#root.append(this.#launcher);
  }

  connectedCallback() {
    this.#home = this.parentElement;
    this.#unwatch?.();
    this.#unwatch = watchTheme((theme) => (this.dataset.theme = theme));
  }

  /** Sites that swap the whole body between pages take the widget away with it: it moves to the new one. */
  disconnectedCallback() {
    this.#unwatch?.();
    queueMicrotask(() => {
      if (!this.isConnected && this.#home && document.body && document.body !== this.#home) document.body.append(this);
    });
  }

  /** @param {{ focus?: boolean }} [how] */
  async open(how) {
    const panel = await this.#ready();
    panel?.show(how);
  }

  async close() {
    (await this.#panel?.catch(() => null))?.hide();
  }

  /** @param {string} text */
  async ask(text) {
    const panel = await this.#ready();
    panel?.show();
    panel?.ask(text);
  }

  async destroy() {
    this.#home = null;
    const panel = this.#panel;
    this.remove();
    (await panel?.catch(() => null))?.destroy();
  }

  async #ready() {
    this.#launcher.setAttribute("aria-busy", "true");
    try {
      return await this.#load();
    } catch (error) {
      console.warn("Docs assistant: the panel could not be loaded.", error);
      return null;
    } finally {
      this.#launcher.removeAttribute("aria-busy");
    }
  }

  #load() {
    this.#panel ??= this.#fetch().catch((error) => {
      this.#panel = null;
      throw error;
    });
    return this.#panel;
  }

  async #fetch() {
    const url = new URL("/widget/panel.js", this.#options.script);
    // A failed module stays failed under its address in some browsers, so a second attempt needs another.
    if (this.#attempts++) url.searchParams.set("attempt", String(this.#attempts));
    const { create } = /** @type {typeof import("./panel.js")} */ (await import(url.href));
    const panel = create(this.#options);
    panel.addEventListener("toggle", () => {
      this.#launcher.setAttribute("aria-expanded", String(panel.isOpen));
      if (!panel.isOpen && panel.hadFocus) this.#launcher.focus();
    });
    this.#root.append(panel);
    return panel;
  }
}

/** @param {HTMLScriptElement} script */
function start(script) {
  const { domain, key } = script.dataset;
  if (!domain || !key) throw new Error("the tag needs data-domain and data-key");
  if ("DocsAssistant" in window) throw new Error("the tag is on this page twice");
  // After `destroy` the tag may be added again, and a name cannot be defined again.
  if (!customElements.get(TAG)) customElements.define(TAG, DocsAssistant);
  const Widget = /** @type {typeof DocsAssistant} */ (customElements.get(TAG));
  const widget = new Widget({ domain, key, script: script.src });
  document.body.append(widget);

  const api = {
    open: () => widget.open(),
    close: () => widget.close(),
    ask: (/** @type {string} */ text) => widget.ask(String(text)),
    destroy() {
      widget.destroy();
      delete (/** @type {any} */ (window).DocsAssistant);
    },
  };
  Object.defineProperty(window, "DocsAssistant", { value: Object.freeze(api), configurable: true });

  // A sheet over the whole screen would hide the page that was just opened, so only the popover comes back.
  if (store(domain).isOpen() && matchMedia("(min-width: 640px)").matches) widget.open({ focus: false });
}

/** @param {() => void} run */
function guarded(run) {
  try {
    run();
  } catch (error) {
    console.warn("Docs assistant:", error instanceof Error ? error.message : error);
  }
}

guarded(() => {
  const script = document.currentScript;
  if (!(script instanceof HTMLScriptElement)) throw new Error("the tag must be a classic script");
  if (document.body) guarded(() => start(script));
  else addEventListener("DOMContentLoaded", () => guarded(() => start(script)), { once: true });
});
