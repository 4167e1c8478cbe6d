/**
 * The script of the search tag. It listens for the keys and triggers of the search, and loads the dialog when a reader is
 * about to use it. Errors are warnings in the console and have no other effect on the host page.
 */

import { warn } from "../base/console.js";
import { keepButtons } from "./button.js";

/** @typedef {{ open: (text: string) => void, toggle: () => void, isOpen: boolean }} Dialog */

const script = /** @type {HTMLScriptElement} */ (document.currentScript);
const { domain, key, trigger, container, shortcuts, labels, assistant, deflect } = script.dataset;

/** @type {Promise<Dialog> | null} */
let loading = null;
/** @type {Dialog | null} */
let dialog = null;
let attempts = 0;
/** What a reader types while the dialog loads; null while nobody waits for it. @type {string | null} */
let typed = null;

function load() {
  const url = new URL(`widget/${SEARCH_DIALOG_VERSION}/search-dialog.js`, script.src);
  // Some browsers remember that a module failed, so each further attempt has another address.
  if (attempts) url.search = `${attempts}`;
  loading ??= import(url.href)
    .then(({ create }) => (dialog = create(script)))
    .catch((error) => {
      attempts++;
      loading = typed = null;
      throw error;
    });
  return loading;
}

/** After two failures the keys and triggers are the page's own again. */
const canLoad = () => attempts < 2;

const preload = () => void load().catch(() => {});

/** @param {string} [text] for the field */
async function open(text = "") {
  typed = (typed ?? "") + text;
  try {
    const loaded = await load();
    if (typed !== null) loaded.open(typed);
  } catch (error) {
    warn("the search could not be loaded.", error);
  }
  typed = null;
}

/**
 * Whether a key belongs to an element that readers type into. Elements of other sites may hide a field. Our dialog has the
 * focus for a moment after it has closed.
 * @param {Event} event
 */
function isTyping({ target }) {
  if (!(target instanceof HTMLElement) || target.localName === "docs-search") return false;
  return target.isContentEditable || target.matches("input, textarea, select") || target.localName.includes("-");
}

/** Stops the page's own search from opening, too. @param {Event} event */
function take(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const { ctrlKey, metaKey, altKey, shiftKey, isComposing } = event;
  const hasCommand = ctrlKey !== metaKey;
  const isPlain = !ctrlKey && !metaKey && !altKey;
  if (event.defaultPrevented || isComposing || altKey) return;
  // A keyboard for another script has the same key with another letter.
  const letter = (event.key > "z" ? event.code.slice(3) : event.key).toLowerCase();
  const isCommandK = hasCommand && !shiftKey && letter === "k";
  const { target } = event;
  const isText = isTyping(event);
  const isOwn = target instanceof Element && (triggerOf(target) || /^docs-/.test(target.localName));
  if (dialog?.isOpen) {
    if (!isCommandK) return;
    take(event);
    dialog.toggle();
  } else if (typed !== null && isPlain && event.key.length === 1 && !isText) {
    typed += event.key;
    take(event);
  } else if (typed !== null && event.key === "Escape") {
    typed = null;
  } else if (canLoad() && ((isCommandK && (isOwn || !isText)) || (event.key === "/" && isPlain && !isText))) {
    take(event);
    open();
  }
}

/** The site's own trigger in which an event happened. @param {EventTarget | null} target @returns {HTMLElement | null} */
const triggerOf = (target) => (trigger && target instanceof Element ? target.closest(trigger) : null);

/** By events of the whole page, since a site may draw its header anew. */
function listenToTriggers() {
  const on = (/** @type {string} */ type, /** @type {(element: HTMLElement, event: Event) => void} */ act) =>
    addEventListener(
      type,
      (event) => {
        const element = triggerOf(event.target);
        if (element && canLoad()) act(element, event);
      },
      true,
    );
  on("pointerover", preload);
  // Themes such as Material open their own search when their field gets the focus.
  on("mousedown", (element, event) => element instanceof HTMLInputElement && event.preventDefault());
  on("focusin", preload);
  on("click", (element, event) => {
    take(event);
    open(element instanceof HTMLInputElement ? element.value : "");
  });
  on("input", (element) => {
    if (!(element instanceof HTMLInputElement)) return;
    open(element.value);
    element.value = "";
  });
}

/** Shows answers below the subject of the page's own support form, from when a reader enters it. */
function watchSubject() {
  const enter = async (/** @type {EventTarget | null} */ target) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) || !target.matches(`${deflect}`))
      return;
    if (watched.has(target)) return;
    watched.add(target);
    try {
      const { watch } = await import(new URL(`widget/${DEFLECT_VERSION}/deflect.js`, script.src).href);
      watch(target, script);
    } catch (error) {
      warn("the answers for the form could not be loaded.", error);
    }
  };
  const watched = new WeakSet();
  addEventListener("focusin", ({ target }) => enter(target));
  enter(document.activeElement);
}

/** Adds the widget's tag, with the attributes of this one. */
function addWidget() {
  const tag = document.createElement("script");
  Object.assign(tag.dataset, script.dataset);
  tag.nonce = script.nonce;
  tag.src = new URL("widget.js", script.src).href;
  document.head.append(tag);
}

try {
  if (!domain || !key) throw "the search tag needs data-domain and data-key.";
  if (shortcuts !== "false") addEventListener("keydown", pressed, true); // before the listeners of the page
  if (trigger) listenToTriggers();
  if (assistant !== undefined) addWidget();
  if (deflect) watchSubject();
  if (container) keepButtons(container, { nonce: script.nonce, labels, onopen: () => open(), onpoint: preload });
} catch (error) {
  warn(`${error}`);
}
