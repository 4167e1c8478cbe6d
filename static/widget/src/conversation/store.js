/**
 * What is remembered in this browser, per domain: the reader's id, what is being written, and the conversations of a
 * day. Each of these has a place of its own, so that tabs do not write over one another's.
 */

import { json } from "../base/json.js";

/** @typedef {import("./thread.js").Thread} Thread */

const DAY = 24 * 60 * 60 * 1000;
const MAX_CONVERSATIONS = 10;

/** A browser may refuse storage (privacy settings, a full disk, a sandboxed frame): memory then serves the page. */
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

  /** Returns false when only this page's memory has it. @param {string} key @param {string | null} value */
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
    let kept = [];
    try {
      kept = Object.keys(window[this.kind]);
    } catch {
      // None can be had.
    }
    return [...new Set([...kept, ...this.#memory.keys()])].filter((key) => key.startsWith(prefix));
  }
}

const lasting = new SafeStorage("localStorage");
export const tabStorage = new SafeStorage("sessionStorage");

/** A random id. `randomUUID` exists on secure pages only, and docs are also read on plain local hosts. */
export function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {string} domain @param {"day" | "tab"} [memory] */
export const createStore = (domain, memory = "day") => {
  const local = memory === "tab" ? tabStorage : lasting;
  const key = (/** @type {string} */ name) => `docs-assistant:${domain}:${name}`;
  const place = (/** @type {string} */ chatId) => key(`thread:${chatId}`);
  /** The conversation as this tab last saw it in the store. */
  let seen = "";
  /** The reader, as this tab knows them. @type {string | null} */
  let reader = null;

  /** @param {string} at */
  const read = (at) => {
    try {
      const { at: time, thread } = JSON.parse(local.get(at) ?? "null") ?? {};
      return Date.now() - time < DAY ? { chatId: at.slice(place("").length), at: time, thread } : null;
    } catch {
      return null;
    }
  };

  /** Every conversation of the last day, newest first; older ones are gone after this. */
  const list = () =>
    local
      .keys(place(""))
      .map((at) => read(at) ?? void local.set(at, null))
      .filter((record) => record !== undefined)
      .sort((a, b) => b.at - a.at);

  return {
    /** The conversations that are kept, newest first. */
    listPast: () =>
      list().map(({ chatId, at, thread }) => {
        const [threadId, title] = [thread?.threadId, thread?.turns?.[0]?.text].map((value) =>
          typeof value === "string" ? value : "",
        );
        return { chatId, threadId, title, at };
      }),

    /** The reader's id for follow-ups: random, and told to nobody but this service. */
    fp() {
      let fp = local.get(key("fp"));
      if (!fp) local.set(key("fp"), (fp = randomId()));
      return (reader = fp);
    },

    /** Whether another tab has deleted everything since; true once. */
    wasDeleted() {
      const gone = reader !== null && local.get(key("fp")) !== reader;
      if (gone) reader = null;
      return gone;
    },

    /** Keeps a conversation, and that this tab is in it. @param {Thread} thread */
    save(thread) {
      tabStorage.set(key("chat"), thread.chatId);
      if (!thread.turns.length) return;
      const at = place(thread.chatId);
      seen = json({ at: Date.now(), thread });
      const others = list().filter(({ chatId }) => chatId !== thread.chatId);
      const drop = () => others.length > 0 && local.set(place(/** @type {any} */ (others.pop()).chatId), null);
      while (others.length >= MAX_CONVERSATIONS) drop();
      while (!local.set(at, seen) && drop());
    },

    /** The conversation of this tab, in a new tab the newest one; unchecked. @returns {unknown} */
    load() {
      const current = tabStorage.get(key("chat"));
      const record = current === null ? list()[0] : read(place(current));
      if (record) tabStorage.set(key("chat"), record.chatId);
      seen = (record && local.get(place(record.chatId))) ?? "";
      if (record) reader = local.get(key("fp"));
      return record?.thread ?? null;
    },

    /** Goes to another conversation. @param {string} chatId */
    switchTo(chatId) {
      tabStorage.set(key("chat"), chatId);
      return this.load();
    },

    /**
     * The conversation of this tab, unchecked, if another tab has saved it since this one did or loaded it; and when.
     * @returns {{ thread: unknown, at: number } | null}
     */
    loadChanged() {
      const at = place(tabStorage.get(key("chat")) ?? "");
      return local.get(at) === seen ? null : read(at);
    },

    /**
     * Runs something in one tab at a time, where the browser can see to that.
     * @param {() => void} run
     */
    async runExclusive(run) {
      if (!navigator.locks) return run();
      await navigator.locks.request(key("lock"), async () => {
        run();
        await new Promise((done) => setTimeout(done, 100)); // until other tabs surely see what was saved
      });
    },

    /** Calls back when another tab changes what is kept. @param {() => void} changed @param {AbortSignal} signal */
    watch(changed, signal) {
      const heard = (/** @type {StorageEvent} */ event) => (event.key ?? key("")).startsWith(key("")) && changed();
      addEventListener("storage", heard, { signal });
    },

    /** What is being written in this tab, as it was left on another page; unchecked. @returns {any} */
    loadDraft() {
      try {
        return JSON.parse(tabStorage.get(key("draft")) ?? "null");
      } catch {
        return null;
      }
    },

    /** @param {unknown} draft */
    saveDraft: (draft) => void tabStorage.set(key("draft"), json(draft)),

    /** Leaves nothing of the reader. */
    deleteAll() {
      for (const at of [...local.keys(place("")), key("fp")]) local.set(at, null);
      for (const name of ["chat", "draft"]) tabStorage.set(key(name), null);
      reader = null;
      seen = "";
    },
  };
};
