/** The dialog around a conversation: its position, opening and closing, and its effects on the page. */

import { logicalSide } from "../base/options.js";
import { HostPage } from "./host-page.js";

/** @typedef {import("../base/options.js").Options} Options */

/** Widths of the variant `panel`, in pixels, as frame.css has them. */
const WIDTHS = { normal: 380, wide: 580 };
/** The width that the page keeps beside a panel, in pixels. On a narrower screen the panel lies over the page. */
const PAGE_WIDTH = 1280;
/** How far a reader pulls a sheet down to close it, in pixels. */
const CLOSE_DISTANCE = 90;
/** With less height than this, only the most important parts show. In pixels. */
const LOW_HEIGHT = 420;

const TABBABLE = "a[href], button, input, select, summary, textarea, [tabindex='0']";

export class Frame {
  isWide = false;
  #page = new HostPage();
  #narrow = matchMedia("(max-width:639.98px)");
  /** Whether the browser shows the dialog as modal. */
  #isModal = false;
  #style;
  #onclose;

  /**
   * @param {HTMLDialogElement} dialog
   * @param {Options} options
   * @param {object} on
   * @param {() => CSSStyleDeclaration | undefined} on.style a rule that the dialog inherits from
   * @param {() => void} on.onclose the reader wants it closed
   * @param {AbortSignal} on.signal
   */
  constructor(dialog, options, { style, onclose, signal }) {
    this.dialog = dialog;
    this.options = options;
    this.#style = style;
    this.#onclose = onclose;
    const fit = () => this.update();
    addEventListener("resize", fit, { signal });
    for (const type of ["resize", "scroll"]) visualViewport?.addEventListener(type, fit, { signal });
    dialog.addEventListener("cancel", (event) => {
      event.preventDefault(); // fired by a phone's back button, among others
      onclose();
    });
    dialog.addEventListener("close", () => this.#isModal && !dialog.open && onclose());
    dialog.addEventListener("click", (event) => event.target === dialog && this.#isOutside(event) && onclose());
    dialog.addEventListener("keydown", (event) => event.key === "Tab" && this.isCovering && this.#keepFocus(event));
    this.#listenToSwipes();
  }

  /** Whether it covers a small screen. */
  get isSheet() {
    return this.#narrow.matches;
  }

  /** Whether readers cannot reach the page behind it. */
  get isCovering() {
    return this.isSheet || this.options.variant === "modal";
  }

  /** Whether it lies over paragraphs of the page. The page that a link leads to has its text in the same place. */
  get coversText() {
    const { left, right } = this.dialog.getBoundingClientRect();
    return (
      this.isCovering ||
      [...document.querySelectorAll("p")].some((text) => {
        const box = text.getBoundingClientRect();
        return box.width && box.right > left && box.left < right;
      })
    );
  }

  /** @param {{ instant?: boolean }} how `instant`: without an animation, in place of the skeleton */
  open({ instant = false }) {
    this.dialog.classList.toggle("instant", instant);
    this.#showDialog();
    this.update();
  }

  close() {
    this.dialog.classList.remove("instant");
    this.#isModal = false;
    this.dialog.close();
    this.update();
  }

  /** Adapts the dialog after a change: of the screen, its keyboard, or an option. */
  update() {
    const { dialog, options, isCovering } = this;
    const { variant, align } = options;
    const side = logicalSide(options.side, dialog);
    Object.assign(dialog.dataset, { form: this.isSheet ? "sheet" : variant, side, align });
    dialog.classList.toggle("wide", this.isWide);
    dialog.ariaModal = isCovering ? "true" : null;
    // A dialog that was removed from the page and put back is no longer modal.
    if (dialog.open && dialog.isConnected && isCovering !== dialog.matches(":modal")) this.#switchModal();
    const width = WIDTHS[this.isWide ? "wide" : "normal"];
    const pushes = dialog.open && variant === "panel" && innerWidth >= PAGE_WIDTH + width;
    this.#page.apply({
      still: dialog.open && isCovering,
      side,
      room: pushes ? width : 0,
    });
    const style = this.#style();
    const view = dialog.open && this.isSheet ? visualViewport : null;
    style?.setProperty("--height", view ? `${view.height}px` : "");
    style?.setProperty("--top", view ? `${view.offsetTop}px` : "");
    dialog.classList.toggle("low", dialog.open && dialog.clientHeight < LOW_HEIGHT);
  }

  /** Opens the dialog by its attribute, since `show()` would take the focus. */
  #showDialog() {
    this.#isModal = this.isCovering;
    if (this.#isModal) this.dialog.showModal();
    else this.dialog.open = true;
  }

  /** Switches between modal and not modal. */
  #switchModal() {
    const root = /** @type {ShadowRoot} */ (this.dialog.getRootNode());
    const focused = /** @type {HTMLElement | null} */ (root.activeElement);
    this.dialog.classList.add("instant");
    this.#isModal = false;
    this.dialog.close();
    this.#showDialog();
    focused?.focus({ preventScroll: true });
  }

  /** @param {MouseEvent} event */
  #isOutside({ clientX, clientY }) {
    const { left, right, top, bottom } = this.dialog.getBoundingClientRect();
    return clientX < left || clientX > right || clientY < top || clientY > bottom;
  }

  /** Keeps the focus inside while the dialog covers the page. @param {KeyboardEvent} event */
  #keepFocus(event) {
    const elements = /** @type {HTMLElement[]} */ ([...this.dialog.querySelectorAll(TABBABLE)]);
    const focusable = elements.filter(
      (stop) => stop.tabIndex >= 0 && stop.checkVisibility() && !(/** @type {HTMLButtonElement} */ (stop).disabled),
    );
    const last = event.shiftKey ? focusable[0] : focusable.at(-1);
    const focused = /** @type {ShadowRoot} */ (this.dialog.getRootNode()).activeElement;
    if (focused !== last && !(event.shiftKey && focused === this.dialog)) return;
    event.preventDefault();
    (event.shiftKey ? focusable.at(-1) : focusable[0])?.focus();
  }

  /** Readers pull a sheet down by its header, since the rest of it scrolls. */
  #listenToSwipes() {
    let startY = 0;
    let distance = 0;
    /** @param {number} to */
    const move = (to) => this.#style()?.setProperty("--drag", `${(distance = to)}px`);
    this.dialog.addEventListener(
      "touchstart",
      ({ touches, target }) => {
        const isSwipe = this.isSheet && touches.length === 1 && target instanceof Element && target.closest("header");
        startY = isSwipe ? touches[0].clientY : NaN;
        if (isSwipe) this.dialog.classList.add("instant");
      },
      { passive: true },
    );
    this.dialog.addEventListener(
      "touchmove",
      ({ touches }) => startY && move(Math.max(0, touches[0].clientY - startY)),
      {
        passive: true,
      },
    );
    for (const type of ["touchend", "touchcancel"]) {
      this.dialog.addEventListener(type, () => {
        this.dialog.classList.remove("instant");
        if (startY && distance > CLOSE_DISTANCE && type === "touchend") this.#onclose();
        startY = NaN;
        move(0);
      });
    }
  }
}
