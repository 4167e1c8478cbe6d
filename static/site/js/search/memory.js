// The pages and questions that a reader opened from the dialog, and their favourite pages. They stay in this browser.

const MAX_RECENT = 6;
const MAX_FAVOURITES = 12;

/** A page, or without an address a query. @typedef {{ title: string, href?: string, trail?: string }} Entry */
/** @typedef {{ recent: Entry[], favourites: Entry[] }} Lists newest first */

/** @param {Entry} a */
const isSame = (a) => (/** @type {Entry} */ b) => a.href === b.href && (Boolean(a.href) || a.title === b.title);

/** @param {unknown} list @returns {Entry[]} */
const entriesOf = (list) => (Array.isArray(list) ? list.filter((entry) => typeof entry?.title === "string") : []);

export class Memory {
  #key;

  #site;

  /** @param {Pick<import("./site.js").Site, "domain" | "readerToken">} site */
  constructor(site) {
    this.#key = `docs-search:${site.domain}`;
    this.#site = site;
  }

  /** @returns {Lists} */
  load() {
    try {
      const { recent, favourites } = JSON.parse(localStorage.getItem(this.#key) ?? "{}");
      return { recent: entriesOf(recent), favourites: entriesOf(favourites) };
    } catch {
      return { recent: [], favourites: [] }; // storage is switched off, or holds something else
    }
  }

  /** A reader with a token leaves no titles here: others may use this browser after them. @param {Entry} entry that the reader opened */
  add(entry) {
    if (this.#site.readerToken) return;
    const { recent, favourites } = this.load();
    if (favourites.some(isSame(entry))) return;
    const others = recent.filter((other) => !isSame(entry)(other));
    this.#save({ recent: [entry, ...others].slice(0, MAX_RECENT), favourites });
  }

  /** Forgets one entry of either list. @param {Entry} entry */
  remove(entry) {
    const { recent, favourites } = this.load();
    const isOther = (/** @type {Entry} */ other) => !isSame(entry)(other);
    this.#save({ recent: recent.filter(isOther), favourites: favourites.filter(isOther) });
  }

  /** Moves a recent page to the favourites, or a favourite back. @param {Entry} entry */
  toggleFavourite(entry) {
    const wasFavourite = this.load().favourites.some(isSame(entry));
    this.remove(entry);
    if (wasFavourite) return this.add(entry);
    const { recent, favourites } = this.load();
    this.#save({ recent, favourites: [entry, ...favourites].slice(0, MAX_FAVOURITES) });
  }

  clearRecent() {
    this.#save({ recent: [], favourites: this.load().favourites });
  }

  /** @param {Lists} lists */
  #save(lists) {
    try {
      if (lists.recent.length + lists.favourites.length) localStorage.setItem(this.#key, JSON.stringify(lists));
      else localStorage.removeItem(this.#key);
    } catch {
      // Storage is switched off, so nothing is remembered.
    }
  }
}
