/**
 * The card that a citation opens under the pointer or the focus: the page it leads to, and the words it refers to.
 * A script of its own, which the transcript loads with the first citation.
 */

import { createSheet, h } from "../base/dom.js";
import { displayAddress, linkAttributes, withoutHash } from "../base/links.js";
import css from "./citation-card.css";
import { buildQuote, findPassage } from "./quote.js";

/** @typedef {import("../conversation/thread.js").Answer} Answer */

/** How long a pointer rests on a citation before its card opens, and leaves it before the card closes. In milliseconds. */
const OPEN_DELAY = 120;
const CLOSE_DELAY = 200;
/** How long a finger holds a citation before its card opens, in milliseconds. */
const HOLD_DELAY = 450;
/** Space between a citation and its card, and at the edges, in pixels. */
const GAP = 6;
const MARGIN = 12;

export class CitationCard {
  element = h("div", { className: "card", id: "card", role: "group", hidden: true });
  /** Positions the card. A `style` attribute would need a content security policy that allows it. @type {CSSStyleSheet | undefined} */
  #positionSheet;
  /** @type {HTMLAnchorElement | null} */
  #citation = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** Whether a finger held the citation: then its link is not followed. */
  #wasHeld = false;
  #log;
  #answerOf;
  #labels;
  /** @type {CSSStyleSheet | undefined} */
  #styles;
  #dismiss = (/** @type {Event} */ event) => {
    if (/** @type {KeyboardEvent} */ (event).key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    this.hide();
  };

  /**
   * @param {HTMLElement} log holds the citations, and the card
   * @param {(cite: Element) => Answer | null} answerOf
   * @param {{ open: string }} labels
   */
  constructor(log, answerOf, labels) {
    this.#log = log;
    this.#answerOf = answerOf;
    this.#labels = labels;
    log.prepend(this.element); // the last exchange stays the last child
    const listen = (
      /** @type {string[]} */ types,
      /** @type {(cite: HTMLAnchorElement | null, event: any) => void} */ then,
    ) => {
      for (const type of types) log.addEventListener(type, (event) => then(citationAt(event.target), event));
    };
    listen(["pointerover"], (cite, { pointerType, target }) => {
      if (pointerType === "touch") return;
      if (cite) this.#schedule(() => this.show(cite), this.#citation ? 0 : OPEN_DELAY);
      else if (this.element.contains(target)) clearTimeout(this.#timer);
      else if (this.#citation) this.#schedule(() => this.hide(), CLOSE_DELAY);
      else clearTimeout(this.#timer);
    });
    listen(
      ["pointerleave"],
      (_, { pointerType }) => pointerType !== "touch" && this.#schedule(() => this.hide(), CLOSE_DELAY),
    );
    listen(["focusin"], (cite, { target }) => {
      if (cite?.matches(":focus-visible")) this.show(cite);
      else if (!this.#wasHeld && !this.element.contains(target)) this.hide();
    });
    listen(["focusout"], (_, { relatedTarget }) => {
      if (!relatedTarget || !log.contains(relatedTarget)) this.#schedule(() => this.hide(), CLOSE_DELAY);
    });
    listen(["pointerdown"], (cite, { pointerType, target }) => {
      this.#wasHeld = false;
      if (!this.element.contains(target)) this.hide();
      if (cite && pointerType === "touch") this.#schedule(() => (this.show(cite), (this.#wasHeld = true)), HOLD_DELAY);
    });
    listen(
      ["pointerup", "pointercancel"],
      (_, { pointerType }) => pointerType === "touch" && clearTimeout(this.#timer),
    );
    listen(["click"], (cite, event) => {
      if (!cite || !this.#wasHeld) return;
      event.preventDefault();
      event.stopPropagation();
    });
    listen(["contextmenu"], (cite, event) => cite && event.pointerType === "touch" && event.preventDefault());
    // The pointer or the focus may have come to a citation while this script was loading.
    const cite = log.querySelector("a.cite:is(:hover, :focus-visible)");
    if (cite instanceof HTMLAnchorElement) this.#schedule(() => this.show(cite), OPEN_DELAY);
  }

  /** @param {HTMLAnchorElement} cite */
  show(cite) {
    clearTimeout(this.#timer);
    const root = /** @type {ShadowRoot} */ (this.#log.getRootNode());
    if (cite === this.#citation || !root.adoptedStyleSheets) return; // without them a citation is just a link
    this.hide();
    this.#styles ??= createSheet(css);
    this.#positionSheet ??= new CSSStyleSheet();
    // At the front, because the options change a rule of the last sheet.
    root.adoptedStyleSheets = [this.#styles, this.#positionSheet, ...root.adoptedStyleSheets];
    this.#citation = cite;
    this.#fill(cite);
    this.element.hidden = false;
    cite.setAttribute("aria-describedby", "card");
    root.addEventListener("keydown", this.#dismiss, true);
    this.#position(cite);
  }

  hide() {
    clearTimeout(this.#timer);
    if (!this.#citation) return;
    this.#citation.removeAttribute("aria-describedby");
    this.#citation = null;
    this.element.hidden = true;
    const root = /** @type {ShadowRoot} */ (this.#log.getRootNode());
    root.removeEventListener("keydown", this.#dismiss, true);
    root.adoptedStyleSheets = root.adoptedStyleSheets?.filter(
      (each) => each !== this.#styles && each !== this.#positionSheet,
    );
  }

  /** Hides the card if the turns were drawn again without its citation. */
  refresh() {
    if (this.#citation && !this.#citation.isConnected) this.hide();
  }

  /** @param {() => void} action @param {number} ms */
  #schedule(action, ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, ms);
  }

  /** @param {HTMLAnchorElement} cite */
  #fill({ href, textContent }) {
    const answer = this.#answerOf(/** @type {Element} */ (this.#citation));
    const passage = findPassage(href, answer?.passages ?? []);
    const source = answer?.sources.find(({ url }) => withoutHash(href) === withoutHash(url));
    const title = passage?.title || source?.title || `${textContent}`;
    const breadcrumb = passage?.breadcrumb.filter((name, i) => i || name !== title).join(" › ");
    const quote = buildQuote(href, passage);
    this.element.ariaLabel = title;
    this.element.replaceChildren(
      h("strong", { dir: "auto" }, title),
      h("small", { dir: "auto" }, breadcrumb || displayAddress(href)),
      ...(quote
        ? [h("blockquote", { dir: "auto" }, quote.before, quote.marked && h("mark", {}, quote.marked), quote.after)]
        : []),
      // Not for the keyboard, since the citation itself is this link.
      h("a", { ...linkAttributes(href), tabIndex: -1 }, this.#labels.open),
    );
  }

  /** Puts the card below the citation, or above it if there is more room, and within the edges. @param {Element} cite */
  #position(cite) {
    const [log, at, card] = [this.#log, cite, this.element].map((element) => element.getBoundingClientRect());
    const below = log.bottom - at.bottom - GAP - MARGIN;
    const above = at.top - log.top - GAP - MARGIN;
    const top = below >= card.height || below >= above ? at.bottom + GAP : at.top - GAP - card.height;
    const left = Math.max(log.left + MARGIN, Math.min(at.left - 2 * MARGIN, log.right - MARGIN - card.width));
    this.#positionSheet?.replaceSync(`.card{top:${top - log.top + this.#log.scrollTop}px;left:${left - log.left}px}`);
  }
}

/** @param {EventTarget | null} target @returns {HTMLAnchorElement | null} */
const citationAt = (target) => (target instanceof Element ? target.closest("a.cite") : null);
