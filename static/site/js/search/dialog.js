// The search dialog: what is typed becomes rows, and a row leads to a page or to the assistant. It is fetched when the
// dialog is first opened.

import { askOver, isReady } from "../base/assistant.js";
import { teller } from "../base/feedback.js";
import { forget, recent, remember } from "./recent-searches.js";
import { report } from "./click-report.js";
import { Filters } from "./filters.js";
import { find } from "./client.js";
import { List } from "./listbox.js";
import { askRow, navigationRows, pageRows, recentRow } from "./rows.js";
import { fill, words } from "../base/labels.js";

const PAUSE = 80; // milliseconds without a letter before a search

/** Makes the dialog work. @param {HTMLDialogElement} dialog */
export class SearchDialog {
  #dialog;
  #form;
  #field;
  #results;
  #note;
  #status;
  #recent;
  #missing;
  #footer;
  #list;
  #filters;
  #shown = null; // the query whose results stand there
  #asks = false; // whether the row that asks is the one to choose
  #running = new AbortController();
  #pause = 0;
  #tell = null; // of what was not found

  constructor(dialog) {
    const part = (selector) => dialog.querySelector(selector);
    this.#dialog = dialog;
    this.#form = part("form");
    this.#field = part("[name=q]");
    this.#results = part(".search-results");
    this.#note = part(".search-note");
    this.#status = part("[role=status]");
    this.#recent = part(".search-recent");
    this.#missing = part(".search-missing");
    this.#footer = part(".search-foot");
    this.#list = new List(this.#results, this.#field);
    this.#filters = new Filters(part(".search-filters"), () => this.#search());
    this.#listenToField();
    this.#listenToRows();
    this.#listenToRest();
  }

  /** Looks at what stands in the field. @param {boolean} asks whether the row that asks is the one to choose */
  look(asks) {
    this.#asks = asks;
    if (this.#typed !== this.#shown || !this.#typed) this.#changed();
  }

  get #typed() {
    return this.#field.value.trim();
  }

  /** What is typed can be asked at once; its results follow. */
  #changed() {
    clearTimeout(this.#pause);
    const query = this.#typed;
    this.#form.ariaBusy = String(query !== "");
    const row = this.#results.querySelector(".ask-row");
    if (query && row) row.replaceWith(Object.assign(askRow(query), { id: row.id, ariaSelected: row.ariaSelected }));
    else if (query) this.#show([askRow(query)], { first: this.#asks ? 0 : -1 });
    this.#pause = setTimeout(() => this.#search(), query ? PAUSE : 0);
  }

  async #search() {
    this.#running.abort();
    const { signal } = (this.#running = new AbortController());
    const query = this.#typed;
    this.#form.ariaBusy = String(query !== "");
    if (!query) return this.#showRecent();
    try {
      const hits = await find(query, this.#filters.chosen, signal);
      if (!signal.aborted) this.#showHits(query, hits);
    } catch (error) {
      if (!signal.aborted) this.#show([askRow(query)], { query, message: error.message });
    }
    if (!signal.aborted) this.#form.ariaBusy = "false";
  }

  /**
   * Shows rows, and what goes with all of them.
   * @param {Element[]} rows
   * @param {object} [about]
   * @param {string | null} [about.query] whose results they are, null while those are awaited
   * @param {number} [about.first] the option to choose
   * @param {string} [about.message] a sentence above the rows
   * @param {string} [about.told] what screen readers say of the rows, where there is no message
   */
  #show(rows, { query = null, first = 0, message = "", told = "" } = {}) {
    this.#shown = query;
    this.#list.show(rows, first);
    this.#note.textContent = message;
    this.#status.textContent = message || told;
    this.#footer.hidden = !this.#typed;
    this.#missing.hidden = this.#recent.hidden = true;
  }

  #showRecent() {
    const queries = recent();
    const told = queries.length ? words.recentSearches : "";
    this.#show([...queries.map(recentRow), navigationRows(words.startHere)], { query: "", first: -1, told });
    this.#recent.hidden = !queries.length;
  }

  #showHits(query, hits) {
    this.#filters.learn(hits);
    if (!hits.length) return this.#showNothing(query);
    const told = hits.length === 1 ? words.onePage : fill(words.manyPages, { count: hits.length });
    this.#show([askRow(query), ...hits.map((hit) => pageRows(hit, query))], { query, first: this.#asks ? 0 : 1, told });
  }

  #showNothing(query) {
    const narrowed = Object.keys(this.#filters.chosen).length > 0;
    const message = fill(narrowed ? words.nothingHere : words.nothing, { query });
    this.#show([askRow(query), navigationRows(words.nearestPages, query)], { query, message });
    this.#tell = teller({ source: "contextual", reason: "Missing", comment: query });
    this.#missing.firstElementChild.textContent = words.tellMissing;
    this.#missing.hidden = false;
  }

  /** Does what follows from a row that was clicked, or chosen with a key. */
  #open(event, option) {
    if (option.matches(".recent-row")) {
      this.#field.value = option.textContent;
      return this.#changed();
    }
    const query = this.#typed;
    remember(query);
    const pages = Array.from(this.#results.querySelectorAll("[role=group]:has(.page-row)"));
    const position = 1 + pages.indexOf(option.closest("[role=group]"));
    if (position) report(this.#dialog.dataset.domain, this.#shown, option.pathname, position);
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button === 1) return; // it opens beside this page
    this.#dialog.close();
    this.#field.blur(); // at once, since the widget looks where the focus is
    if (!option.matches(".ask-row") || !isReady) return;
    event.preventDefault();
    askOver(query);
  }

  /** Enter opens the row that is chosen, unless its query has been typed over: then the form leads to all results. */
  #enter({ ctrlKey, metaKey }) {
    const { chosen } = this.#list;
    if (!chosen || (this.#shown !== this.#typed && !chosen.matches(".ask-row"))) return false;
    chosen.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey }));
    return true;
  }

  #listenToField() {
    this.#field.addEventListener("input", (event) => {
      this.#asks = false;
      if (!event.isComposing) this.#changed();
    });
    this.#field.addEventListener("compositionend", () => this.#changed());
    this.#field.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      const plain = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
      const done = event.key === "Enter" ? this.#enter(event) : plain && this.#list.move(event.key);
      if (done) event.preventDefault();
    });
  }

  #listenToRows() {
    this.#results.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.#open(event, option);
    });
    this.#results.addEventListener("auxclick", (event) => {
      const option = event.target.closest("a[role=option]");
      if (option && event.button === 1) this.#open(event, option);
    });
  }

  #listenToRest() {
    const part = (selector) => this.#dialog.querySelector(selector);
    this.#dialog.addEventListener("click", ({ target }) => target === this.#dialog && this.#dialog.close());
    part("[data-clear]").addEventListener("click", () => {
      forget();
      this.#showRecent();
      this.#field.focus();
    });
    this.#missing.firstElementChild.addEventListener("click", async ({ target }) => {
      target.textContent = (await this.#tell({})) || words.thanksForMissing;
      this.#status.textContent = target.textContent;
    });
    this.#form.addEventListener("mousedown", (event) => event.target === this.#field || event.preventDefault()); // the field keeps the focus
    this.#form.addEventListener("submit", (event) => {
      if (this.#typed) remember(this.#typed);
      else event.preventDefault();
    });
  }
}
