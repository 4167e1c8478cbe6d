// Three words or more selected in an article bring up a small toolbar beside them: ask, copy, link to them.

import { announce } from "../base/announce.js";
import { isReady, open, place } from "../base/assistant.js";
import { copy, h, isTyped } from "../base/dom.js";
import { words } from "../base/labels.js";

const FEWEST = 3;
const QUIET = 200; // milliseconds after the last change
const GAP = 8; // pixels
const LONGEST = 200; // letters of a link to text that names all of it
const ENDS = 4; // words at each end of a longer one

const article = document.querySelector("main article .prose");
const touch = matchMedia("(pointer: coarse)");

const wordsOf = (text) =>
  Array.from(new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)).filter((each) => each.isWordLike);

/** The range that is selected in the article; null if it is too short, or elsewhere. */
function selected() {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  return article.contains(range.commonAncestorContainer) &&
    wordsOf(selection.toString().slice(0, 1000)).length >= FEWEST
    ? range
    : null;
}

/** The address of a text on this page: browsers look for whole words, in one block from the beginning and to the end. */
function linkTo(range) {
  const whole = range.cloneRange();
  const { startContainer: begin, startOffset, endContainer: end, endOffset } = range;
  if (begin instanceof Text) whole.setStart(begin, /[\p{L}\p{N}_]*$/u.exec(begin.data.slice(0, startOffset)).index);
  if (end instanceof Text) whole.setEnd(end, endOffset + /^[\p{L}\p{N}_]*/u.exec(end.data.slice(endOffset))[0].length);
  const lines = whole
    .toString()
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const [first, last] = [lines[0], lines.at(-1)];
  const encoded = (text) => encodeURIComponent(text).replaceAll("-", "%2D");
  const ends = () => {
    const [to, from] = [wordsOf(first).slice(0, ENDS).at(-1), wordsOf(last).slice(-ENDS)[0]];
    return [first.slice(0, to.index + to.segment.length), last.slice(from.index)];
  };
  const named = lines.length === 1 && first.length <= LONGEST ? [first] : ends();
  return `${location.origin}${location.pathname}#:~:text=${named.map(encoded).join()}`;
}

function setUp() {
  const button = (name, act) => {
    const made = h("button", { type: "button", tabIndex: -1 }, name);
    made.addEventListener("click", () => act(made));
    return made;
  };
  const ask = button(words.ask, () => {
    const range = selected();
    const inCode = range.commonAncestorContainer.parentElement.closest("pre");
    const context = [
      { type: inCode ? "code" : "textSelection", value: getSelection().toString(), ...place(range.startContainer) },
    ];
    leave(); // first: the widget gives the focus back to where it is now
    open(context);
  });
  const copies = navigator.clipboard
    ? [
        button(words.copy, (made) => copy(made, getSelection().toString(), announce)),
        button(words.linkToText, (made) => copy(made, linkTo(selected()), announce)),
      ]
    : [];
  const bar = h(
    "div",
    { className: "selection-bar", role: "toolbar", ariaLabel: words.selectedText, hidden: true },
    ask,
    ...copies,
  );
  const hint = touch.matches ? "" : navigator.platform.startsWith("Mac") ? "⌘J" : "Ctrl J";
  if (hint) bar.append(h("kbd", { ariaHidden: "true" }, hint));
  document.body.append(bar);
  let before = null; // what had the focus
  let pressing = false;
  let timer = 0;

  function leave() {
    const had = bar.contains(document.activeElement);
    bar.hidden = true;
    if (!had) return;
    document.activeElement.blur(); // at once, though what is hidden loses the focus by itself a moment later
    before?.focus({ preventScroll: true });
  }

  /** Above the selection, where there is room; below it where the system shows a menu of its own above. */
  function show() {
    const range = pressing ? null : selected();
    if (bar.contains(document.activeElement) && range) return;
    ask.hidden = !isReady;
    bar.hidden = !range || (ask.hidden && !copies.length);
    if (bar.hidden) return;
    const boxes = Array.from(range.getClientRects());
    const box = range.getBoundingClientRect();
    const header = document.querySelector(".site-header").offsetHeight;
    const above = box.top - bar.offsetHeight - GAP;
    const below = touch.matches || above < header;
    const line = below ? boxes.at(-1) : boxes[0];
    const room = document.documentElement.clientWidth - bar.offsetWidth - GAP;
    const left = Math.max(GAP, Math.min(line.left + line.width / 2 - bar.offsetWidth / 2, room));
    bar.style.left = `${left + scrollX}px`;
    bar.style.top = `${(below ? Math.min(box.bottom + GAP * (touch.matches ? 3 : 1), innerHeight - bar.offsetHeight - GAP) : above) + scrollY}px`;
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(show, QUIET);
  }

  document.addEventListener("selectionchange", later);
  document.addEventListener("pointerdown", ({ target }) => (pressing = !bar.contains(target)));
  for (const type of ["pointerup", "pointercancel"]) {
    document.addEventListener(type, () => {
      pressing = false;
      later();
    });
  }
  bar.addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !bar.hidden && !bar.contains(document.activeElement)) bar.hidden = true;
    if (event.key.toLowerCase() !== "j" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    if (isTyped(event) || !selected()) return;
    event.preventDefault();
    show();
    before = document.activeElement;
    bar.querySelector("button:not([hidden])")?.focus({ preventScroll: true });
  });
  bar.addEventListener("keydown", (event) => {
    const buttons = Array.from(bar.querySelectorAll("button:not([hidden])"));
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = buttons.indexOf(document.activeElement);
    if (step) buttons[(at + step + buttons.length) % buttons.length].focus();
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

if (article) setUp();
