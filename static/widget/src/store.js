/** What is remembered in this browser, per domain: the fingerprint, the conversation for a day, and whether the panel is open. */

/** @typedef {import("./thread.js").Thread} Thread */

const DAY = 24 * 60 * 60 * 1000;

/** A browser may refuse storage (privacy settings, a full disk, a sandboxed frame): memory then serves the page. */
class Shelf {
  /** @type {Map<string, string>} */
  #memory = new Map();

  /** @param {"localStorage" | "sessionStorage"} kind */
  constructor(kind) {
    this.kind = kind;
  }

  /** @param {string} key */
  get(key) {
    try {
      return window[this.kind].getItem(key) ?? this.#memory.get(key) ?? null;
    } catch {
      return this.#memory.get(key) ?? null;
    }
  }

  /** @param {string} key @param {string | null} value */
  set(key, value) {
    this.#memory.delete(key);
    try {
      if (value === null) window[this.kind].removeItem(key);
      else window[this.kind].setItem(key, value);
    } catch {
      if (value !== null) this.#memory.set(key, value);
    }
  }
}

const lasting = new Shelf("localStorage");
const tab = new Shelf("sessionStorage");

/** A random id. `randomUUID` exists on secure pages only, and docs are also read on plain local hosts. */
export function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {string} domain */
export const store = (domain) => {
  const key = (/** @type {string} */ name) => `docs-assistant:${domain}:${name}`;
  return {
    /** The reader's id for follow-ups: random, and told to nobody but this service. */
    fp() {
      let fp = lasting.get(key("fp"));
      if (!fp) lasting.set(key("fp"), (fp = randomId()));
      return fp;
    },

    /** @param {Thread} thread */
    save(thread) {
      lasting.set(key("thread"), JSON.stringify({ at: Date.now(), thread }));
    },

    /** The conversation as it was saved, unchecked, or null after a day. @returns {unknown} */
    load() {
      try {
        const saved = JSON.parse(lasting.get(key("thread")) ?? "null");
        return saved && Date.now() - saved.at < DAY ? saved.thread : null;
      } catch {
        return null;
      }
    },

    isOpen: () => tab.get(key("open")) === "1",
    setOpen: (/** @type {boolean} */ open) => tab.set(key("open"), open ? "1" : null),
  };
};
