/**
 * What this browser remembers for a project: the reader's id, the draft of a question, and the conversations of a day.
 * Each conversation has an entry of its own, so that tabs do not overwrite each other's.
 */

import { json } from "../base/json.js";
import { sharedStorage, tabStorage } from "../base/storage.js";

/** @typedef {import("./thread.js").Thread} Thread */
/** @typedef {{ chatId: string, at: number, thread: any }} StoredThread unchecked: `parseThread` checks a thread */

const DAY = 24 * 60 * 60 * 1000;
const MAX_CONVERSATIONS = 10;
/** The time until other tabs see a change of the storage, in milliseconds. */
const STORAGE_DELAY = 100;

/** A random id. `randomUUID` exists on secure pages only, and docs are also read on plain local hosts. */
export function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {string} domain @param {"day" | "tab"} [memory] */
export const createStore = (domain, memory = "day") => {
  const storage = memory === "tab" ? tabStorage : sharedStorage;
  const key = (/** @type {string} */ name) => `docs-assistant:${domain}:${name}`;
  const threadKey = (/** @type {string} */ chatId) => key(`thread:${chatId}`);
  /** The entry of this tab's conversation as this tab last read or wrote it. */
  let lastEntry = "";
  /** The reader's id as this tab knows it. @type {string | null} */
  let readerId = null;

  /** @param {string} name the key of a thread @returns {StoredThread | null} null if it is older than a day */
  const read = (name) => {
    try {
      const { at, thread } = JSON.parse(storage.get(name) ?? "null") ?? {};
      return Date.now() - at < DAY ? { chatId: name.slice(threadKey("").length), at, thread } : null;
    } catch {
      return null;
    }
  };

  /** The conversations of the last day, newest first. Removes older ones. */
  const list = () =>
    storage
      .keys(threadKey(""))
      .map((name) => read(name) ?? void storage.set(name, null))
      .filter((record) => record !== undefined)
      .sort((a, b) => b.at - a.at);

  return {
    /** The conversations of the last day, newest first. */
    listPast: () =>
      list().map(({ chatId, at, thread }) => {
        const [threadId, title] = [thread?.threadId, thread?.turns?.[0]?.text].map((value) =>
          typeof value === "string" ? value : "",
        );
        return { chatId, threadId, title, at };
      }),

    /** The reader's id for follow-ups: random, and sent to this service only. */
    fp() {
      let fp = storage.get(key("fp"));
      if (!fp) storage.set(key("fp"), (fp = randomId()));
      return (readerId = fp);
    },

    /** Whether another tab has deleted everything since; true once. */
    wasDeleted() {
      const isDeleted = readerId !== null && storage.get(key("fp")) !== readerId;
      if (isDeleted) readerId = null;
      return isDeleted;
    },

    /** Stores a conversation, as that of this tab. The oldest ones make room for it. @param {Thread} thread */
    save(thread) {
      tabStorage.set(key("chat"), thread.chatId);
      if (!thread.turns.length) return;
      const name = threadKey(thread.chatId);
      lastEntry = json({ at: Date.now(), thread });
      const others = list().filter(({ chatId }) => chatId !== thread.chatId);
      const dropOldest = () => {
        const oldest = others.pop();
        return oldest !== undefined && storage.set(threadKey(oldest.chatId), null);
      };
      while (others.length >= MAX_CONVERSATIONS) dropOldest();
      while (!storage.set(name, lastEntry) && dropOldest());
    },

    /** The conversation of this tab, or in a new tab the newest one; unchecked. @returns {unknown} */
    load() {
      const current = tabStorage.get(key("chat"));
      const newest = current === null ? list()[0] : read(threadKey(current));
      if (newest) tabStorage.set(key("chat"), newest.chatId);
      lastEntry = (newest && storage.get(threadKey(newest.chatId))) ?? "";
      if (newest) readerId = storage.get(key("fp"));
      return newest?.thread ?? null;
    },

    /** Goes to another conversation. @param {string} chatId */
    switchTo(chatId) {
      tabStorage.set(key("chat"), chatId);
      return this.load();
    },

    /**
     * The conversation of this tab, if another tab has stored it since this tab loaded or stored it.
     * @returns {StoredThread | null}
     */
    loadChanged() {
      const name = threadKey(tabStorage.get(key("chat")) ?? "");
      return storage.get(name) === lastEntry ? null : read(name);
    },

    /**
     * Runs a function in one tab at a time, if the browser has locks.
     * @param {() => void} run
     */
    async runExclusive(run) {
      if (!navigator.locks) return run();
      await navigator.locks.request(key("lock"), async () => {
        run();
        await new Promise((resolve) => setTimeout(resolve, STORAGE_DELAY)); // until other tabs see what it stored
      });
    },

    /** Calls back when another tab changes an entry. @param {() => void} onchange @param {AbortSignal} signal */
    watch(onchange, signal) {
      const listener = (/** @type {StorageEvent} */ event) => {
        if ((event.key ?? key("")).startsWith(key(""))) onchange();
      };
      addEventListener("storage", listener, { signal });
    },

    /** The draft that this tab stored on an earlier page; unchecked. @returns {any} */
    loadDraft() {
      try {
        return JSON.parse(tabStorage.get(key("draft")) ?? "null");
      } catch {
        return null;
      }
    },

    /** @param {unknown} draft */
    saveDraft: (draft) => void tabStorage.set(key("draft"), json(draft)),

    /** Deletes everything of the reader. */
    deleteAll() {
      for (const entry of [...storage.keys(threadKey("")), key("fp")]) storage.set(entry, null);
      for (const name of ["chat", "draft"]) tabStorage.set(key(name), null);
      readerId = null;
      lastEntry = "";
    },
  };
};
