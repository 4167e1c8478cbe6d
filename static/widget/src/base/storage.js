/** Storage that works in every browser, at least until the reader leaves the page. */

/** A browser may refuse storage: by its settings, on a full disk, in a sandboxed frame. Then memory takes its place. */
class SafeStorage {
  /** @type {Map<string, string>} */
  #memory = new Map();

  /** @param {"localStorage" | "sessionStorage"} kind */
  constructor(kind) {
    this.kind = kind;
  }

  /** @param {string} key */
  get(key) {
    try {
      return this.#memory.get(key) ?? window[this.kind].getItem(key);
    } catch {
      return null;
    }
  }

  /**
   * @param {string} key
   * @param {string | null} value null removes it
   * @returns {boolean} false if only the memory of this page has it
   */
  set(key, value) {
    this.#memory.delete(key);
    try {
      if (value === null) window[this.kind].removeItem(key);
      else window[this.kind].setItem(key, value);
      return true;
    } catch {
      if (value !== null) this.#memory.set(key, value);
      return false;
    }
  }

  /** @param {string} prefix */
  keys(prefix) {
    /** @type {string[]} */
    let stored = [];
    try {
      stored = Object.keys(window[this.kind]);
    } catch {
      // Storage is refused, so it has none.
    }
    return [...new Set([...stored, ...this.#memory.keys()])].filter((key) => key.startsWith(prefix));
  }
}

/** Permanent, and shared by all tabs. */
export const sharedStorage = new SafeStorage("localStorage");
/** Lasts until the tab is closed. */
export const tabStorage = new SafeStorage("sessionStorage");
