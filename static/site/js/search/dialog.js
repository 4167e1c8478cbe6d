// The search dialog: a typed query becomes rows, and a row leads to a page or to the assistant. This module is loaded
// when the dialog is first opened.

import { askInDialog, isReady } from "../base/assistant.js";
import { closest, find } from "../base/dom.js";
import { feedbackSender } from "../base/feedback.js";
import { fill, labels } from "../base/labels.js";
import { reportClick } from "./click-report.js";
import { search } from "./client.js";
import { Filters } from "./filters.js";
import { Listbox } from "./listbox.js";
import { addRecent, clearRecent, loadRecent } from "./recent-searches.js";
import { buildAskRow, buildNavigationRows, buildPageRows, buildRecentRow } from "./rows.js";

const DELAY = 80; // milliseconds without a letter before a search

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
  /** Whether the row that asks the assistant is chosen first. */
  #prefersAsking = false;
  #running = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** Reports the query that found nothing. */
  #reportMissing = feedbackSender({});

  /** @param {HTMLDialogElement} dialog */
  constructor(dialog) {
    this.#dialog = dialog;
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
    const query = this.#query;
    this.#form.ariaBusy = String(query !== "");
    const row = this.#results.querySelector(".ask-row");
    if (query && row) {
      row.replaceWith(Object.assign(buildAskRow(query), { id: row.id, ariaSelected: row.ariaSelected }));
    } else if (query) {
      this.#show([buildAskRow(query)], { first: this.#prefersAsking ? 0 : -1 });
    }
    this.#timer = setTimeout(() => this.#search(), query ? DELAY : 0);
  }

  async #search() {
    this.#running.abort();
    this.#running = new AbortController();
    const { signal } = this.#running;
    const query = this.#query;
    this.#form.ariaBusy = String(query !== "");
    if (!query) return this.#showRecent();
    try {
      const hits = await search(query, this.#filters.chosen, signal);
      if (!signal.aborted) this.#showHits(query, hits);
    } catch (error) {
      const message = error instanceof Error ? error.message : "";
      if (!signal.aborted) this.#show([buildAskRow(query)], { query, message });
    }
    if (!signal.aborted) this.#form.ariaBusy = "false";
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

  #showRecent() {
    const queries = loadRecent();
    const status = queries.length ? labels.recentSearches : "";
    const rows = [...queries.map(buildRecentRow), buildNavigationRows(labels.startHere)];
    this.#show(rows, { query: "", first: -1, status });
    this.#recent.hidden = !queries.length;
  }

  /** @param {string} query @param {import("./client.js").Hit[]} hits */
  #showHits(query, hits) {
    this.#filters.addValues(hits);
    if (!hits.length) return this.#showNoHits(query);
    const status = hits.length === 1 ? labels.onePage : fill(labels.manyPages, { count: hits.length });
    const rows = [buildAskRow(query), ...hits.map((hit) => buildPageRows(hit, query))];
    this.#show(rows, { query, first: this.#prefersAsking ? 0 : 1, status });
  }

  /** @param {string} query */
  #showNoHits(query) {
    const isNarrowed = Object.keys(this.#filters.chosen).length > 0;
    const message = fill(isNarrowed ? labels.nothingHere : labels.nothing, { query });
    this.#show([buildAskRow(query), buildNavigationRows(labels.nearestPages, query)], { query, message });
    this.#reportMissing = feedbackSender({ source: "contextual", reason: "Missing", comment: query });
    this.#missingButton.textContent = labels.tellMissing;
    this.#missing.hidden = false;
  }

  /** Opens a row that was clicked, or chosen with a key. @param {MouseEvent} event @param {HTMLElement} option */
  #open(event, option) {
    if (option.matches(".recent-row")) {
      this.#field.value = option.textContent;
      return this.#queryChanged();
    }
    const query = this.#query;
    addRecent(query);
    const pages = Array.from(this.#results.querySelectorAll("[role=group]:has(.page-row)"));
    const position = 1 + pages.findIndex((page) => page === option.closest("[role=group]"));
    if (position && option instanceof HTMLAnchorElement) {
      reportClick(this.#dialog.dataset.domain, this.#shownQuery ?? "", option.pathname, position);
    }
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button === 1) return; // it opens beside this page
    this.#dialog.close();
    this.#field.blur(); // at once, since the widget remembers where the focus was
    if (!option.matches(".ask-row") || !isReady) return;
    event.preventDefault();
    askInDialog(query);
  }

  /**
   * Opens the chosen row. Returns false if results of an earlier query are shown: then the form leads to all results.
   * @param {KeyboardEvent} event
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
      const isHandled = event.key === "Enter" ? this.#openChosen(event) : isPlain && this.#list.move(event.key);
      if (isHandled) event.preventDefault();
    });
  }

  #listenToRows() {
    this.#results.addEventListener("click", (event) => {
      const option = closest(event, "[role=option]", HTMLElement);
      if (option) this.#open(event, option);
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
      clearRecent();
      this.#showRecent();
      this.#field.focus();
    });
    this.#missingButton.addEventListener("click", async () => {
      const text = (await this.#reportMissing({})) || labels.thanksForMissing;
      this.#missingButton.textContent = this.#status.textContent = text;
    });
    // The field keeps the focus.
    this.#form.addEventListener("mousedown", (event) => {
      if (event.target !== this.#field) event.preventDefault();
    });
    this.#form.addEventListener("submit", (event) => {
      if (this.#query) addRecent(this.#query);
      else event.preventDefault();
    });
  }
}
