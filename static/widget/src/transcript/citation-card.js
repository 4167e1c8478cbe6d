/**
 * The card that a citation opens under the pointer or the focus: the page it leads to, and the words it refers to.
 * A script of its own, which the transcript loads with the first citation.
 */

import { h, sheet } from "../base/dom.js";
import { displayAddress, linkAttributes, withoutHash } from "../base/links.js";
import css from "./citation-card.css";
import { passageOf, quote } from "./quote.js";

/** @typedef {import("../conversation/thread.js").Answer} Answer */

/** How long a pointer stays on a citation before its card opens, and away before it closes, in milliseconds. */
const OPENING = 120;
const CLOSING = 200;
/** How long a finger holds a citation. */
const HOLDING = 450;
/** Between a citation and its card, and from the edges, in pixels. */
const GAP = 6;
const EDGE = 12;

export class CitationCard {
  element = h("div", { className: "card", id: "card", role: "group", hidden: true });
  /** Where the card is. No element has styles of its own, so that no policy has to allow them. @type {CSSStyleSheet | undefined} */
  #place;
  /** @type {HTMLAnchorElement | null} */
  #cite = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** A finger that held a citation does not follow it. */
  #held = false;
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
   * @param {HTMLElement} log in which the citations are, and the card is put
   * @param {(cite: Element) => Answer | null} answerOf
   * @param {{ open: string }} labels
   */
  constructor(log, answerOf, labels) {
    this.#log = log;
    this.#answerOf = answerOf;
    this.#labels = labels;
    log.append(this.element);
    const on = (
      /** @type {string[]} */ types,
      /** @type {(cite: HTMLAnchorElement | null, event: any) => void} */ then,
    ) => {
      for (const type of types) log.addEventListener(type, (event) => then(citeAt(event.target), event));
    };
    on(["pointerover"], (cite, { pointerType, target }) => {
      if (pointerType === "touch") return;
      if (cite) this.#soon(() => this.show(cite), this.#cite ? 0 : OPENING);
      else if (this.element.contains(target)) clearTimeout(this.#timer);
      else if (this.#cite) this.#soon(() => this.hide(), CLOSING);
      else clearTimeout(this.#timer);
    });
    on(["pointerleave"], (_, { pointerType }) => pointerType !== "touch" && this.#soon(() => this.hide(), CLOSING));
    on(["focusin"], (cite, { target }) => {
      if (cite?.matches(":focus-visible")) this.show(cite);
      else if (!this.#held && !this.element.contains(target)) this.hide();
    });
    on(["focusout"], (_, { relatedTarget }) => {
      if (!relatedTarget || !log.contains(relatedTarget)) this.#soon(() => this.hide(), CLOSING);
    });
    on(["pointerdown"], (cite, { pointerType, target }) => {
      this.#held = false;
      if (!this.element.contains(target)) this.hide();
      if (cite && pointerType === "touch") this.#soon(() => (this.show(cite), (this.#held = true)), HOLDING);
    });
    on(["pointerup", "pointercancel"], (_, { pointerType }) => pointerType === "touch" && clearTimeout(this.#timer));
    on(["click"], (cite, event) => {
      if (!cite || !this.#held) return;
      event.preventDefault();
      event.stopPropagation();
    });
    on(["contextmenu"], (cite, event) => cite && event.pointerType === "touch" && event.preventDefault());
    // The pointer or the focus may have come to a citation while this script was loading.
    const cite = log.querySelector("a.cite:is(:hover, :focus-visible)");
    if (cite instanceof HTMLAnchorElement) this.#soon(() => this.show(cite), OPENING);
  }

  /** @param {HTMLAnchorElement} cite */
  show(cite) {
    clearTimeout(this.#timer);
    const root = /** @type {ShadowRoot} */ (this.#log.getRootNode());
    if (cite === this.#cite || !root.adoptedStyleSheets) return; // without them a citation is just a link
    this.hide();
    this.#styles ??= sheet(css);
    this.#place ??= new CSSStyleSheet();
    // At the front, since the last sheet is the one whose rule the options change.
    root.adoptedStyleSheets = [this.#styles, this.#place, ...root.adoptedStyleSheets];
    this.#cite = cite;
    this.#fill(cite);
    this.element.hidden = false;
    cite.setAttribute("aria-describedby", "card");
    root.addEventListener("keydown", this.#dismiss, true);
    this.#put(cite);
  }

  hide() {
    clearTimeout(this.#timer);
    if (!this.#cite) return;
    this.#cite.removeAttribute("aria-describedby");
    this.#cite = null;
    this.element.hidden = true;
    const root = /** @type {ShadowRoot} */ (this.#log.getRootNode());
    root.removeEventListener("keydown", this.#dismiss, true);
    root.adoptedStyleSheets = root.adoptedStyleSheets?.filter((each) => each !== this.#styles && each !== this.#place);
  }

  /** After the turns were drawn: what the card belongs to may be gone. */
  drawn() {
    if (this.#cite && !this.#cite.isConnected) this.hide();
  }

  /** @param {() => void} action @param {number} ms */
  #soon(action, ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, ms);
  }

  /** @param {HTMLAnchorElement} cite */
  #fill({ href, textContent }) {
    const answer = this.#answerOf(/** @type {Element} */ (this.#cite));
    const passage = passageOf(href, answer?.passages ?? []);
    const source = answer?.sources.find(({ url }) => withoutHash(href) === withoutHash(url));
    const title = passage?.title || source?.title || `${textContent}`;
    const trail = passage?.breadcrumb.filter((name, i) => i || name !== title).join(" › ");
    const quoted = quote(href, passage);
    this.element.ariaLabel = title;
    this.element.replaceChildren(
      h("strong", { dir: "auto" }, title),
      h("small", { dir: "auto" }, trail || displayAddress(href)),
      ...(quoted
        ? [h("blockquote", { dir: "auto" }, quoted.before, quoted.marked && h("mark", {}, quoted.marked), quoted.after)]
        : []),
      // The citation itself is this link: keys need no second one.
      h("a", { ...linkAttributes(href), tabIndex: -1 }, this.#labels.open),
    );
  }

  /** Below the citation, or above where there is more room, and never over an edge. @param {Element} cite */
  #put(cite) {
    const [log, at, card] = [this.#log, cite, this.element].map((element) => element.getBoundingClientRect());
    const below = log.bottom - at.bottom - GAP - EDGE;
    const above = at.top - log.top - GAP - EDGE;
    const top = below >= card.height || below >= above ? at.bottom + GAP : at.top - GAP - card.height;
    const left = Math.max(log.left + EDGE, Math.min(at.left - 2 * EDGE, log.right - EDGE - card.width));
    this.#place?.replaceSync(`.card{top:${top - log.top + this.#log.scrollTop}px;left:${left - log.left}px}`);
  }
}

/** @param {EventTarget | null} target @returns {HTMLAnchorElement | null} */
const citeAt = (target) => (target instanceof Element ? target.closest("a.cite") : null);
