/**
 * Answers below the subject of an owner's own support form: while a reader writes, the pages that fit appear, each with
 * the words that were found. A script of its own, which the search tag loads when a reader enters the field.
 */

import { pageLanguage } from "../../../site/js/base/sentences.js";
import { applyStyles, h } from "../base/dom.js";
import { pageTheme } from "../launcher/theme.js";
import css from "./deflect.css";
import { readLabels } from "./labels.js";

/** @typedef {"begun" | "shown" | "solved" | "sent"} FormEvent */
/** @typedef {{ content: string, path: string, metadata: { title: string, url: string, highlights?: [number, number][] } }} Hit */

/** How long a reader pauses before a search, in milliseconds. */
const PAUSE = 600;
const MIN_LETTERS = 6;
const MAX_LETTERS = 400;
const MAX_HITS = 3;
const MIN_SCORE = 0.2;
const MAX_EXCERPT = 220;
const TIMEOUT = 8_000;

/** @type {Record<string, Record<string, string>>} */
const WORDS = {
  en: {
    deflectTitle: "These pages may answer it",
    deflectFound: "Pages that may answer it: {n}. They are below the field.",
    deflectSolved: "This solved it",
    deflectThanks: "Good. You need not send anything.",
  },
  de: {
    deflectTitle: "Diese Seiten beantworten es vielleicht",
    deflectFound: "Seiten, die es vielleicht beantworten: {n}. Sie stehen unter dem Feld.",
    deflectSolved: "Das hat geholfen",
    deflectThanks: "Gut. Sie müssen nichts abschicken.",
  },
};

/** @param {HTMLInputElement | HTMLTextAreaElement} field @param {HTMLScriptElement} script the tag */
export function watch(field, script) {
  const { domain = "", key = "", labels, language, version, theme } = script.dataset;
  const words = { ...(WORDS[(language || pageLanguage()).slice(0, 2)] ?? WORDS.en), ...readLabels(labels) };
  const service = new URL(".", script.dataset.service || script.src).href.slice(0, -1);
  const address = (/** @type {string} */ name, rest = "") =>
    `${service}/discovery/v1/${name}/${encodeURIComponent(domain)}${rest}`;
  /** Events that were counted: each counts once for each page load. @type {Set<FormEvent>} */
  const counted = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let request = new AbortController();
  let last = "";

  const host = document.createElement("docs-deflect");
  const root = host.attachShadow({ mode: "closed" });
  const list = h("ul", { role: "list" });
  const status = h("p", { className: "unseen", role: "status" });
  const section = h(
    "section",
    { hidden: true, "aria-label": words.deflectTitle },
    h("h2", {}, words.deflectTitle),
    list,
  );
  const style = applyStyles(root, [css, ":host{}"], script.nonce);
  root.append(status, section);

  /** @param {FormEvent} event */
  function count(event) {
    if (counted.has(event)) return;
    counted.add(event);
    // Plain text needs no preflight request; `keepalive` lets it outlive the page.
    const body = JSON.stringify({ event });
    fetch(address("support", "/event"), { method: "POST", body, keepalive: true, credentials: "omit" }).catch(() => {});
  }

  async function find(/** @type {string} */ query) {
    request.abort();
    request = new AbortController();
    const { signal } = request;
    const filter = { version: version || undefined };
    try {
      const response = await fetch(address("search"), {
        method: "POST",
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        body: JSON.stringify({ query, pageSize: MAX_HITS, scoreThreshold: MIN_SCORE, filter }),
        credentials: "omit",
        signal: AbortSignal.any ? AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]) : signal,
      });
      if (response.ok && !signal.aborted) show(await response.json());
    } catch {
      // The form works without answers.
    }
  }

  function show(/** @type {Hit[]} */ hits) {
    list.replaceChildren(...hits.map(buildItem));
    section.hidden = hits.length === 0;
    status.textContent = hits.length ? words.deflectFound.replace("{n}", String(hits.length)) : "";
    style()?.setProperty("color-scheme", theme === "light" || theme === "dark" ? theme : pageTheme());
    if (hits.length) count("shown");
  }

  function buildItem(/** @type {Hit} */ { content, metadata: { title, url, highlights = [] } }) {
    const link = h("a", { href: url, target: "_blank", rel: "noopener" }, title);
    const solved = h("button", { type: "button", onclick: thank }, words.deflectSolved);
    solved.ariaLabel = `${words.deflectSolved}: ${title}`;
    return h("li", { dir: "auto" }, link, h("p", {}, ...excerpt(content, highlights)), solved);
  }

  function thank() {
    count("solved");
    clearTimeout(timer);
    request.abort();
    const thanks = h("p", { className: "thanks", tabIndex: -1 }, words.deflectThanks);
    section.replaceChildren(thanks);
    thanks.focus(); // its button is gone; screen readers read it
  }

  field.addEventListener("input", () => {
    if (field.value.trim()) count("begun");
    clearTimeout(timer);
    const query = field.value.trim().slice(0, MAX_LETTERS);
    if (counted.has("solved") || query === last) return;
    timer = setTimeout(() => {
      last = query;
      if (query.length < MIN_LETTERS) show([]);
      else find(query);
    }, PAUSE);
  });
  field.form?.addEventListener("submit", () => count("sent"));
  (field.closest("label") ?? field).after(host); // what is in a label is a part of the field's name
  if (field.value) field.dispatchEvent(new Event("input")); // typed while this script was loading
}

/**
 * The text with the words that were found, cut around the first of them.
 * @param {string} text
 * @param {[number, number][]} ranges in code points
 */
function excerpt(text, ranges) {
  const letters = [...text];
  const first = ranges[0]?.[0] ?? 0;
  let begin = Math.max(0, first - MAX_EXCERPT / 2);
  while (begin > 0 && begin < first && !/\s/.test(letters[begin - 1])) begin++;
  const end = Math.min(letters.length, begin + MAX_EXCERPT);
  /** @type {(string | Node)[]} */
  const children = [begin ? "…" : ""];
  let at = begin;
  for (const [from, to] of ranges) {
    if (from < at || to <= from || to > end) continue;
    children.push(letters.slice(at, from).join(""), h("mark", {}, letters.slice(from, to).join("")));
    at = to;
  }
  const rest = letters.slice(at, end).join("");
  return [...children, end < letters.length ? `${rest.replace(/\s\S*$/, "")}…` : rest];
}
