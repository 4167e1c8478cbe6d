// The playground's search: the results that readers of the project would get, with their scores.

import { fieldOf, h } from "../base/dom.js";
import { markedText } from "../base/marked-text.js";
import { UNREACHABLE } from "./project.js";

/** @typedef {{ url: string, score: number, breadcrumb: string[], highlights: [number, number][] }} Metadata */
/** @typedef {{ content: string, metadata: Metadata }} Hit */

const MAX_HITS = 10;

/** @param {Hit} hit */
function buildRow({ content, metadata: { url, score, breadcrumb, highlights } }) {
  const link = h(
    "a",
    { href: url, target: "_blank", rel: "noopener" },
    h("span", { className: "score" }, score.toFixed(2)),
    h("span", { className: "result-title" }, breadcrumb.join(" › ")),
    h("span", { className: "trail" }, url),
    markedText("excerpt", content, highlights),
  );
  return h("li", {}, link);
}

/** @param {HTMLFormElement} form @param {HTMLElement} status @param {HTMLElement} list @param {import("./project.js").Project} project */
export function setUpSearch(form, status, list, project) {
  let running = new AbortController();

  /** @param {string} query @returns {Promise<[hits: Hit[], sentence: string]>} */
  async function search(query) {
    running = new AbortController();
    const address = project.address("v1/search");
    const response = await project.post(address, { query, pageSize: MAX_HITS }, running.signal);
    if (!response.ok) return [[], await project.explainFailure(response)];
    /** @type {Hit[]} */
    const hits = await response.json();
    const pages = hits.length === 1 ? "page" : "pages";
    if (hits.length) return [hits, `${hits.length} ${pages}, best first, with scores from 0 to 1`];
    return [
      hits,
      `No page matches “${query}”. If nothing has been read in yet: manage ingest ${project.domain} ./docs`,
    ];
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    running.abort();
    const field = fieldOf(form, "query");
    const query = field.value.trim();
    if (!query) return field.focus();
    try {
      const [hits, sentence] = await search(query);
      list.replaceChildren(...hits.map(buildRow));
      status.textContent = sentence;
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) status.textContent = UNREACHABLE;
    }
  });
}
