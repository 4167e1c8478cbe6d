// A toolbar beside text that is selected in an article: ask about it, copy it, link to it.

import { announce } from "../base/announce.js";
import { isReady, locate, openAssistant } from "../base/assistant.js";
import { copy } from "../base/clipboard.js";
import { find, h, holdsTarget, isTyping } from "../base/dom.js";
import { labels } from "../base/labels.js";

const MIN_WORDS = 3;
const DELAY = 200; // milliseconds after the last change
const GAP = 8; // pixels
const MAX_FRAGMENT = 200; // characters of a text that its link quotes in full
const EDGE_WORDS = 4; // quoted from each end of a longer text

const isTouch = matchMedia("(pointer: coarse)");

/** @param {string} text */
const splitWords = (text) =>
  Array.from(new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)).filter((each) => each.isWordLike);

/**
 * The selected range, if it is long enough and in the article.
 * @param {HTMLElement} article
 */
function selectedRange(article) {
  const selection = getSelection();
  if (!selection?.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const isLong = splitWords(selection.toString().slice(0, 1000)).length >= MIN_WORDS;
  return isLong && article.contains(range.commonAncestorContainer) ? range : null;
}

/**
 * The address of a text on this page, as a text fragment. Browsers look for whole words, so the range is widened to
 * them. Both ends must lie in one line each.
 * @param {Range} range
 */
function buildTextLink(range) {
  const whole = range.cloneRange();
  const { startContainer: begin, startOffset, endContainer: end, endOffset } = range;
  if (begin instanceof Text) {
    whole.setStart(begin, begin.data.slice(0, startOffset).search(/[\p{L}\p{N}_]*$/u));
  }
  if (end instanceof Text) {
    whole.setEnd(end, endOffset + (/^[\p{L}\p{N}_]*/u.exec(end.data.slice(endOffset))?.[0].length ?? 0));
  }
  const lines = whole
    .toString()
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const [first, last] = [lines[0], lines[lines.length - 1]];
  const encode = (/** @type {string} */ text) => encodeURIComponent(text).replaceAll("-", "%2D");
  const quoteEnds = () => {
    const to = splitWords(first).slice(0, EDGE_WORDS).slice(-1)[0];
    const from = splitWords(last).slice(-EDGE_WORDS)[0];
    return [first.slice(0, to.index + to.segment.length), last.slice(from.index)];
  };
  const quotes = lines.length === 1 && first.length <= MAX_FRAGMENT ? [first] : quoteEnds();
  return `${location.origin}${location.pathname}#:~:text=${quotes.map(encode).join()}`;
}

/** @param {HTMLElement} article */
function setUp(article) {
  const selected = () => selectedRange(article);
  /** @param {string} label @param {(range: Range, button: HTMLButtonElement) => void} act */
  const buildButton = (label, act) => {
    const button = h("button", { type: "button", tabIndex: -1 }, label);
    button.addEventListener("click", () => {
      const range = selected();
      if (range) act(range, button);
    });
    return button;
  };
  const ask = buildButton(labels.ask, (range) => {
    const { commonAncestorContainer: node } = range;
    const type = node.parentElement?.closest("pre") ? "code" : "textSelection";
    const value = getSelection()?.toString() ?? "";
    const place = locate(range.startContainer);
    leave(); // first, since the widget gives the focus back to the element that has it now
    openAssistant([{ type, value, ...place }]);
  });
  const copyButtons = navigator.clipboard
    ? [
        buildButton(labels.copy, (_, button) => copy(button, getSelection()?.toString() ?? "", announce)),
        buildButton(labels.linkToText, (range, button) => copy(button, buildTextLink(range), announce)),
      ]
    : [];
  const bar = h(
    "div",
    { className: "selection-bar", role: "toolbar", ariaLabel: labels.selectedText, hidden: true },
    ask,
    ...copyButtons,
  );
  const hint = isTouch.matches ? "" : navigator.platform.startsWith("Mac") ? "⌘J" : "Ctrl J";
  if (hint) bar.append(h("kbd", { ariaHidden: "true" }, hint));
  document.body.append(bar);
  /** @type {Element | null} what had the focus before the toolbar */
  let opener = null;
  let isPressing = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const visibleButtons = () => Array.from(bar.querySelectorAll("button")).filter((button) => !button.hidden);

  function leave() {
    const focused = document.activeElement;
    const hadFocus = bar.contains(focused);
    bar.hidden = true;
    if (!hadFocus) return;
    if (focused instanceof HTMLElement) focused.blur(); // at once: the browser itself would wait for the next frame
    if (opener instanceof HTMLElement) opener.focus({ preventScroll: true });
  }

  /** Shows the toolbar above the selection if there is room. Phones show their own menu there, so it goes below. */
  function show() {
    const range = isPressing ? null : selected();
    if (bar.contains(document.activeElement) && range) return;
    ask.hidden = !isReady;
    bar.hidden = !range || (ask.hidden && !copyButtons.length);
    if (bar.hidden || !range) return;
    const lines = Array.from(range.getClientRects());
    const box = range.getBoundingClientRect();
    const header = find(document, ".site-header", HTMLElement).offsetHeight;
    const above = box.top - bar.offsetHeight - GAP;
    const isBelow = isTouch.matches || above < header;
    const line = isBelow ? lines[lines.length - 1] : lines[0];
    const below = Math.min(box.bottom + GAP * (isTouch.matches ? 3 : 1), innerHeight - bar.offsetHeight - GAP);
    const room = document.documentElement.clientWidth - bar.offsetWidth - GAP;
    const left = Math.max(GAP, Math.min(line.left + line.width / 2 - bar.offsetWidth / 2, room));
    bar.style.left = `${left + scrollX}px`;
    bar.style.top = `${(isBelow ? below : above) + scrollY}px`;
  }

  function showSoon() {
    clearTimeout(timer);
    timer = setTimeout(show, DELAY);
  }

  document.addEventListener("selectionchange", showSoon);
  document.addEventListener("pointerdown", (event) => {
    isPressing = !holdsTarget(bar, event);
  });
  for (const type of ["pointerup", "pointercancel"]) {
    document.addEventListener(type, () => {
      isPressing = false;
      showSoon();
    });
  }
  bar.addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !bar.hidden && !bar.contains(document.activeElement)) bar.hidden = true;
    if (event.key.toLowerCase() !== "j" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    if (isTyping(event) || !selected()) return;
    event.preventDefault();
    show();
    opener = document.activeElement;
    visibleButtons()[0]?.focus({ preventScroll: true });
  });
  bar.addEventListener("keydown", (event) => {
    const buttons = visibleButtons();
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const at = buttons.findIndex((button) => button === document.activeElement);
    if (step) buttons[(at + step + buttons.length) % buttons.length].focus();
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

const article = document.querySelector("main article .prose");
if (article instanceof HTMLElement) setUp(article);
