// The search dialog: a typed query becomes rows, and a row leads to a page or to the assistant. This site loads this
// module when the dialog is first opened; other sites get it with their search tag (static/widget/src/search).

import { closest, find } from "../base/dom.js";
import { fill } from "../base/sentences.js";
import { previewAnswer, reportClick, search } from "./client.js";
import { Filters } from "./filters.js";
import { Listbox } from "./listbox.js";
import { Memory } from "./memory.js";
import {
  addAnswer,
  buildAskRows,
  buildGroup,
  buildNavigationRows,
  buildPageRows,
  buildSavedRow,
  entryOf,
  mayAsk,
} from "./rows.js";
import { words } from "./site.js";

const DELAY = 80; // milliseconds without a letter before a search
const PAUSE = 400; // milliseconds without a letter before the sentence that answers is asked for

export class SearchDialog {
  #dialog;
  #form;
  #field;
  #results;
  #note;
  #status;
  #recent;
  #missing;
  #missingButton;
  #footer;
  #list;
  #filters;
  /** The query whose results are shown; null while there are none. @type {string | null} */
  #shownQuery = null;
  /** The query for which Enter was pressed before its results came, where no page shows all results. */
  #sentQuery = "";
  /** Whether the row that asks the assistant is chosen first. */
  #prefersAsking = false;
  #running = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #site;
  #memory;

  /** @param {HTMLDialogElement} dialog @param {import("./site.js").Site} site */
  constructor(dialog, site) {
    this.#dialog = dialog;
    this.#site = site;
    this.#memory = new Memory(site);
    this.#form = find(dialog, "form", HTMLFormElement);
    this.#field = find(dialog, "[name=q]", HTMLInputElement);
    this.#results = find(dialog, ".search-results", HTMLElement);
    this.#note = find(dialog, ".search-note", HTMLElement);
    this.#status = find(dialog, "[role=status]", HTMLElement);
    this.#recent = find(dialog, ".search-recent", HTMLElement);
    this.#missing = find(dialog, ".search-missing", HTMLElement);
    this.#missingButton = find(this.#missing, "button", HTMLButtonElement);
    this.#footer = find(dialog, ".search-foot", HTMLElement);
    this.#list = new Listbox(this.#results, this.#field);
    this.#filters = new Filters(find(dialog, ".search-filters", HTMLElement), () => this.#search());
    this.#listenToField();
    this.#listenToRows();
    this.#listenToButtons();
  }

  /** Shows rows for the text in the field. @param {boolean} prefersAsking whether the row that asks is chosen first */
  update(prefersAsking) {
    this.#prefersAsking = prefersAsking;
    if (this.#query !== this.#shownQuery || !this.#query) this.#queryChanged();
  }

  get #query() {
    return this.#field.value.trim();
  }

  /** Shows the row that asks at once. The results follow. */
  #queryChanged() {
    clearTimeout(this.#timer);
    this.#sentQuery = "";
    const query = this.#query;
    this.#form.ariaBusy = String(query !== "");
    const row = this.#results.querySelector(".ask-row");
    const askRows = query ? buildAskRows(query, this.#site) : [];
    if (row && askRows.length) {
      row.replaceWith(Object.assign(askRows[0], { id: row.id, ariaSelected: row.ariaSelected }));
    } else if (query && !this.#results.querySelector(".page-row")) {
      this.#show(askRows, { first: this.#prefersAsking ? 0 : -1 });
    }
    this.#timer = setTimeout(() => this.#search(), query ? DELAY : 0);
  }

  async #search() {
    this.#running.abort();
    this.#running = new AbortController();
    const { signal } = this.#running;
    const query = this.#query;
    this.#form.ariaBusy = String(query !== "");
    if (!query) return this.#showSaved();
    try {
      const { hits, found } = await search(this.#site, query, this.#filters.chosen, signal);
      if (signal.aborted) return;
      this.#filters.addValues(found);
      this.#showHits(query, hits);
      if (hits.length) setTimeout(() => this.#showAnswer(query, signal), PAUSE - DELAY);
    } catch (error) {
      const message = error instanceof Error ? error.message : "";
      if (!signal.aborted) this.#show(buildAskRows(query, this.#site), { query, message });
    }
    if (!signal.aborted) this.#form.ariaBusy = "false";
  }

  /** Shows the sentence that answers below the row that asks, if typing has paused. @param {string} query @param {AbortSignal} signal */
  async #showAnswer(query, signal) {
    const row = this.#results.querySelector(".ask-row");
    const isCurrent = () => !signal.aborted && this.#dialog.open && query === this.#query;
    if (!row || !mayAsk(query) || !isCurrent()) return;
    const answer = await previewAnswer(this.#site, query, this.#filters.chosen, signal);
    if (answer && isCurrent()) addAnswer(row, answer);
  }

  /**
   * Shows rows with their sentences.
   * @param {Element[]} rows
   * @param {object} [options]
   * @param {string | null} [options.query] whose results they are; null while those are loading
   * @param {number} [options.first] the option to choose
   * @param {string} [options.message] a sentence above the rows
   * @param {string} [options.status] a sentence for screen readers, if there is no message
   */
  #show(rows, { query = null, first = 0, message = "", status = "" } = {}) {
    this.#shownQuery = query;
    this.#list.show(rows, first);
    this.#note.textContent = message;
    this.#status.textContent = message || status;
    this.#footer.hidden = !this.#query;
    this.#missing.hidden = this.#recent.hidden = true;
  }

  /** Shows what the reader opened before. @param {number} [first] the option to choose; by default the latest page */
  #showSaved(first) {
    const { recent, favourites } = this.#memory.load();
    const isUsed = recent.length > 0 || favourites.length > 0;
    const status = isUsed ? words.savedKeys : "";
    const marked = favourites.map((entry) => buildSavedRow(entry, true));
    const rows = [
      ...recent.map((entry) => buildSavedRow(entry, false)),
      ...(marked.length ? [buildGroup(words.favourites, marked)] : []),
      ...buildNavigationRows(this.#site, words.startHere),
    ];
    this.#show(rows, { query: "", first: first ?? (isUsed ? 0 : -1), status });
    this.#recent.hidden = !recent.length;
  }

  /** @param {string} query @param {import("./client.js").Hit[]} hits */
  #showHits(query, hits) {
    if (!hits.length) return this.#showNoHits(query);
    const status = hits.length === 1 ? words.onePage : fill(words.manyPages, { count: hits.length });
    const askRows = buildAskRows(query, this.#site);
    const rows = [...askRows, ...hits.map((hit) => buildPageRows(hit, query, this.#site))];
    this.#show(rows, { query, first: this.#prefersAsking ? 0 : askRows.length, status });
    const isSent = query === this.#sentQuery;
    this.#sentQuery = "";
    if (isSent) this.#openChosen({ ctrlKey: false, metaKey: false });
  }

  /** @param {string} query */
  #showNoHits(query) {
    const isNarrowed = Object.keys(this.#filters.chosen).length > 0;
    const message = fill(isNarrowed ? words.nothingHere : words.nothing, { query });
    const near = buildNavigationRows(this.#site, words.nearestPages, query);
    this.#show([...buildAskRows(query, this.#site), ...near], { query, message });
    this.#missingButton.textContent = words.tellMissing;
    this.#missing.hidden = !this.#site.reportMissing;
  }

  /** Opens a row that was clicked, or chosen with a key. @param {MouseEvent} event @param {HTMLElement} option */
  #open(event, option) {
    const entry = entryOf(option);
    if (entry && !entry.href) {
      this.#field.value = entry.title;
      return this.#queryChanged();
    }
    const query = this.#query;
    if (entry) this.#memory.add(entry);
    else if (query) this.#memory.add({ title: query });
    const pages = Array.from(this.#results.querySelectorAll("[data-path]"));
    const page = option.closest("[data-path]");
    const path = page?.getAttribute("data-path");
    if (page && path) reportClick(this.#site, this.#shownQuery ?? "", path, 1 + pages.indexOf(page));
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button === 1) return; // it opens beside this page
    this.#dialog.close();
    this.#field.blur(); // at once, since the widget remembers where the focus was
    const isAsking = option.matches(".ask-row");
    const isDone = isAsking ? this.#site.ask(query) : option instanceof HTMLAnchorElement && this.#site.follow(option);
    if (isDone) event.preventDefault();
  }

  /** Changes the lists of what the reader opened before. @param {HTMLElement | null} option @param {string} action */
  #changeSaved(option, action) {
    const entry = option && !this.#query && entryOf(option);
    if (!entry) return false;
    const at = Array.from(this.#results.querySelectorAll("[role=option]")).indexOf(option);
    if (action === "remove") this.#memory.remove(entry);
    else if (entry.href) this.#memory.toggleFavourite(entry);
    this.#showSaved(at);
    return true;
  }

  /**
   * Opens the chosen row. Returns false if results of an earlier query are shown: then the form leads to all results.
   * @param {{ ctrlKey: boolean, metaKey: boolean }} event
   */
  #openChosen({ ctrlKey, metaKey }) {
    const { chosen } = this.#list;
    if (!chosen || (this.#shownQuery !== this.#query && !chosen.matches(".ask-row"))) return false;
    chosen.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey }));
    return true;
  }

  #listenToField() {
    this.#field.addEventListener("input", (event) => {
      this.#prefersAsking = false;
      if (!(event instanceof InputEvent && event.isComposing)) this.#queryChanged();
    });
    this.#field.addEventListener("compositionend", () => this.#queryChanged());
    this.#field.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      const isPlain = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
      const isSave = event.key.toLowerCase() === "s" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
      const isHandled =
        event.key === "Enter"
          ? this.#openChosen(event)
          : isSave || (event.key === "Delete" && isPlain)
            ? this.#changeSaved(this.#list.chosen, isSave ? "favourite" : "remove")
            : isPlain && this.#list.move(event.key);
      if (isHandled) event.preventDefault();
    });
  }

  #listenToRows() {
    this.#results.addEventListener("click", (event) => {
      const button = closest(event, "[data-action]", HTMLElement);
      const option = button
        ? button.parentElement?.querySelector("[role=option]")
        : closest(event, "[role=option]", HTMLElement);
      if (!(option instanceof HTMLElement)) return;
      if (button) this.#changeSaved(option, button.dataset.action ?? "");
      else this.#open(event, option);
    });
    this.#results.addEventListener("auxclick", (event) => {
      const option = closest(event, "a[role=option]", HTMLElement);
      if (option && event.button === 1) this.#open(event, option);
    });
  }

  #listenToButtons() {
    this.#dialog.addEventListener("click", ({ target }) => {
      if (target === this.#dialog) this.#dialog.close();
    });
    find(this.#dialog, "[data-clear]", HTMLElement).addEventListener("click", () => {
      this.#memory.clearRecent();
      this.#showSaved();
      this.#field.focus();
    });
    this.#missingButton.addEventListener("click", async () => {
      const text = (await this.#site.reportMissing?.(this.#query)) || words.thanksForMissing;
      this.#missingButton.textContent = this.#status.textContent = text;
    });
    // The field keeps the focus.
    this.#form.addEventListener("mousedown", (event) => {
      if (event.target !== this.#field) event.preventDefault();
    });
    this.#form.addEventListener("submit", (event) => {
      if (!this.#form.hasAttribute("action")) this.#sentQuery = this.#query;
      if (this.#query) this.#memory.add({ title: this.#query });
      else event.preventDefault();
    });
  }
}
