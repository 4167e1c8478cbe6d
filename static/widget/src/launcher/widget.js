/** The widget's element on the host page. It shows the launcher, and loads the panel when a reader is about to use it. */

import { accentColors, colorMix, parseColor } from "../base/accent.js";
import { warn } from "../base/console.js";
import { applyStyles, h, logoImage } from "../base/dom.js";
import frameCss from "../base/frame.css";
import { isTyping, shortcutOf } from "../base/keyboard.js";
import { launcherLabels } from "../base/launcher-labels.js";
import { DEFAULTS, logicalSide, validateOptions } from "../base/options.js";
import css from "./launcher.css";
import { fetchSettings, tabState } from "./settings.js";
import { createSkeleton } from "./skeleton.js";
import { pageTheme } from "./theme.js";
import { watchTheme } from "./theme-changes.js";

/** @typedef {import("../panel/panel.js").Panel} Panel */
/** @typedef {import("../base/options.js").Options} Options */
/** @typedef {import("../conversation/thread.js").Context} Context */

/** How long a first visit waits for the owner's settings before the launcher shows, in milliseconds. */
const SETTINGS_TIMEOUT = 250;
/**
 * How often within a second the widget returns to a page that removed it. Turbo removes it twice for each page that it
 * has in its cache, and readers go back and forth quickly.
 */
const MAX_RETURNS = 8;

/** The tag. The widget's files are where it was loaded from, which may be a content delivery network. */
export const script = /** @type {HTMLScriptElement} */ (document.currentScript);
/** An address on the host of the service. */
export const service = script?.dataset?.service || script?.src;

export class Widget extends HTMLElement {
  #root = this.attachShadow({ mode: "closed" });
  #lifetime = new AbortController();
  /** @type {Panel | null} */
  #panel = null;
  /** @type {Promise<Panel> | null} */
  #loading = null;
  #attempts = 0;
  /** @type {ReturnType<typeof createSkeleton> | null} */
  #skeleton = null;
  /** Whether the reader or the page wants the panel open, also while it loads. */
  #shouldBeOpen = false;
  /** The element that had the focus before the panel. @type {HTMLElement | null} */
  #opener = null;
  /** Returns to the page within the last second. */
  #returns = 0;
  #labels = launcherLabels;
  #enabled = true;
  /** The owner's options. @type {Partial<Options>} */
  #ownerOptions = {};
  /** The page's options. */
  #pageOptions;
  #style;
  #launcher;
  /** @type {Options} */
  #options;

  /** @param {Partial<Options> & { domain: string, key: string }} page */
  constructor(page) {
    super();
    this.#pageOptions = page;
    this.#options = { ...DEFAULTS, ...page };
    const preload = () => this.#loadPanel().catch(() => {});
    this.#launcher = h("button", {
      className: "launcher waiting",
      "aria-haspopup": "dialog",
      "aria-expanded": "false",
      onpointerenter: preload,
      onfocus: preload,
      onclick: () => this.open(),
    });
    this.#root.append(this.#launcher);
    this.#style = applyStyles(this.#root, [css, frameCss, ":host{}"], this.#options.nonce);
  }

  connectedCallback() {
    watchTheme(() => this.#update());
  }

  /** Some sites replace the whole body, and the widget with it. It returns, but gives up if that repeats. */
  disconnectedCallback() {
    queueMicrotask(() => {
      if (this.isConnected || this.#returns++ >= MAX_RETURNS) return;
      this.attach();
      setTimeout(() => (this.#returns = 0), 1000);
    });
  }

  /** Puts the widget on the page, unless it is there or was destroyed. */
  attach() {
    if (!this.isConnected && !this.#lifetime.signal.aborted) document.body?.append(this);
  }

  /** @param {{ focus?: boolean, context?: Context[] }} [options] */
  async open(options) {
    const { focus = true, context } = Object(options);
    const panel = await this.#showPanel(focus);
    if (context) panel?.composer.attach(context);
  }

  close() {
    this.#shouldBeOpen = false;
    const hadFocus = this.#skeleton && this.#root.activeElement;
    this.#skeleton?.dialog.remove();
    this.#skeleton = null;
    this.#panel?.hide();
    this.#launcher.ariaExpanded = "false";
    if (hadFocus) this.#restoreFocus();
  }

  /** @param {string} text @param {{ context?: Context[] }} [options] */
  async ask(text, options) {
    const panel = await this.#showPanel(true);
    if (panel) panel.ask(text, Object(options).context);
    else if (this.#skeleton) this.#skeleton.field.value = text; // so that the text is not lost
  }

  /** @param {Record<string, unknown>} options */
  update(options) {
    Object.assign(this.#pageOptions, validateOptions(options, service));
    this.#update();
  }

  async reset() {
    (await this.#loadPanel().catch(() => {}))?.conversation.restart();
  }

  async destroy() {
    this.#lifetime.abort();
    this.close();
    tabState(this.#pageOptions.domain, null);
    this.remove();
    (await this.#loading?.catch(() => {}))?.destroy();
  }

  /** Puts the widget on the page and loads the owner's settings. Opens the panel if it was open on the page before. */
  async start() {
    const { signal } = this.#lifetime;
    // Not while the page is parsed, since its styles may depend on which elements are siblings.
    if (document.readyState === "loading")
      return addEventListener("DOMContentLoaded", () => this.start(), { once: true, signal });
    this.attach();
    const { domain } = this.#pageOptions;
    addEventListener("keydown", (event) => this.#key(event), { signal });
    const stored = tabState(domain).settings;
    if (stored) this.#applySettings(stored);
    else setTimeout(() => (this.#launcher.className = "launcher"), SETTINGS_TIMEOUT);
    const request = fetchSettings(service, domain, signal);
    await null; // after the page has had its turn
    this.#emit("ready");
    // A panel that covers the page would hide the page that the reader just opened.
    const covers = this.#options.variant === "modal" || matchMedia("(max-width:639.98px)").matches;
    if (tabState(domain).open && !covers) this.open({ focus: false });
    const settings = await request;
    if (!settings || signal.aborted) return;
    tabState(domain, { settings: settings });
    if (JSON.stringify(settings) !== JSON.stringify(stored)) this.#applySettings(settings);
    if (!settings.enabled) warn(settings.reason);
  }

  /** @param {import("./settings.js").Settings} settings */
  #applySettings({ enabled, reason, appearance, ...options }) {
    this.#enabled = enabled;
    this.#ownerOptions = validateOptions({ ...appearance, ...options }, service);
    this.#launcher.className = "launcher";
    if (!enabled) this.close();
    this.#update();
  }

  /** Applies the options. */
  #update() {
    if (!this.isConnected) return;
    // A body with a transform, a filter or a zoom would place what is fixed. Beside the body nothing does.
    if (this.offsetParent && this.parentNode === document.body) return document.body.after(this);
    const options = (this.#options = { ...DEFAULTS, ...this.#ownerOptions, ...this.#pageOptions });
    const { theme, accent, radius, font, side, align, logo, zIndex } = options;
    this.#labels = { ...launcherLabels, ...options.labels };
    const launcher = this.#launcher;
    launcher.hidden = !this.#enabled;
    launcher.ariaLabel = this.#labels.name;
    if (launcher.dataset.logo !== logo) launcher.replaceChildren(logoImage(logo), h("span"));
    /** @type {HTMLElement} */ (launcher.lastChild).textContent = this.#labels.launcher;

    // Important, so that no rule of the page overrides them.
    const set = (/** @type {string} */ name, /** @type {any} */ value) =>
      this.#style()?.setProperty(name, value, "important");
    set("z-index", zIndex);
    set("--chosen-radius", `${radius}px`);
    set("--chosen-font", font || "initial");
    set("color", accent && colorMix(accent));
    const rgb = accent && parseColor(getComputedStyle(this).color);
    for (const [use, colors] of Object.entries(accentColors(rgb || [0, 0, 0])))
      set(`--chosen-${use}`, rgb ? `light-dark(${colors})` : "initial");
    set("color-scheme", theme === "system" ? pageTheme() : theme);
    Object.assign(launcher.dataset, { align, logo, side: logicalSide(side, this) });
    this.#panel?.update(options);
  }

  /** Shows the panel, or its skeleton until it has loaded. Nothing if it cannot be loaded, or was closed meanwhile. */
  async #showPanel(/** @type {boolean} */ focus) {
    if (!this.#enabled) return;
    this.#shouldBeOpen = true;
    if (this.#launcher.ariaExpanded === "false") {
      const { activeElement, body } = document;
      this.#opener = [this, body].includes(/** @type {any} */ (activeElement))
        ? null
        : /** @type {HTMLElement} */ (activeElement);
    }
    this.#launcher.ariaExpanded = "true";
    if (!this.#panel && !this.#skeleton && this.isConnected) {
      this.#skeleton = createSkeleton(this.#options, logicalSide(this.#options.side, this), this.#labels, {
        onclose: () => this.close(),
        onretry: () => this.open({ focus: false }),
        onask: async () => {
          const panel = await this.#showPanel(true); // with the text that the reader typed
          if (panel && !panel.conversation.isRunning) panel.composer.button.click();
        },
      });
      this.#root.append(this.#skeleton.dialog);
      this.#skeleton.show(focus);
    }
    try {
      const panel = await this.#loadPanel();
      if (!this.#shouldBeOpen) return;
      panel.show({ focus: this.#skeleton ? this.#root.activeElement !== null : focus, field: this.#skeleton?.field });
      this.#skeleton?.dialog.remove();
      this.#skeleton = null;
      return panel;
    } catch (error) {
      warn(error);
      this.#skeleton?.fail();
      this.#emit("error", { status: 0, kind: "panel" });
    }
  }

  #loadPanel() {
    return (this.#loading ??= this.#fetchPanel().catch((error) => {
      this.#loading = null;
      throw error;
    }));
  }

  async #fetchPanel() {
    const url = new URL(`widget/${PANEL_VERSION}/panel.js`, script.src);
    // Some browsers remember that a module failed, so each further attempt has another address.
    if (this.#attempts++) url.search = `${this.#attempts}`;
    const { create } = /** @type {typeof import("../panel/panel.js")} */ (await import(url.href));
    const panel = create(this.#options, service);
    panel.addEventListener("toggle", () => this.#panelToggled(panel));
    panel.addEventListener("hook", (event) => {
      const hook = /** @type {CustomEvent} */ (event).detail;
      this.#emit(hook.name, hook.detail);
    });
    this.#root.append(panel);
    return (this.#panel = panel);
  }

  /** @param {Panel} panel */
  #panelToggled({ isOpen, hadFocus }) {
    tabState(this.#pageOptions.domain, { open: isOpen });
    this.#emit(isOpen ? "open" : "close");
    this.#shouldBeOpen = isOpen;
    this.#launcher.ariaExpanded = `${isOpen}`;
    if (!isOpen && hadFocus) this.#restoreFocus();
  }

  /** Gives the focus back to the element that had it. */
  #restoreFocus() {
    (this.#opener?.isConnected ? this.#opener : this.#launcher).focus();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (!this.#options.shortcuts || !this.isConnected || event.defaultPrevented) return;
    const shortcut = shortcutOf(event);
    if (!shortcut || isTyping(event) || (shortcut === "fresh" && !this.#shouldBeOpen)) return;
    event.preventDefault();
    if (shortcut === "fresh") this.reset();
    else if (this.#shouldBeOpen) this.close();
    else this.open();
  }

  /** Calls the hooks of the page. An error in one is only a warning. @param {string} name @param {Record<string, unknown>} detail */
  #emit(name, detail = {}) {
    const { event, error } = this.#options.hooks;
    try {
      if (name === "error") error?.(detail);
      else event?.(name, detail);
    } catch (exception) {
      warn(exception);
    }
  }
}
