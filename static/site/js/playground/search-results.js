// The playground's search: what readers of the project would find, with the scores.

import { h } from "../base/dom.js";
import { marked } from "../base/marked-text.js";
import { UNREACHABLE, sentence } from "./project.js";

const MOST = 10;

function row({ content, metadata: { url, score, breadcrumb, highlights } }) {
  return h(
    "li",
    {},
    h(
      "a",
      { href: url, target: "_blank", rel: "noopener" },
      h("span", { className: "score" }, score.toFixed(2)),
      h("span", { className: "result-title" }, breadcrumb.join(" › ")),
      h("span", { className: "trail" }, url),
      marked("excerpt", content, highlights),
    ),
  );
}

/** @param {HTMLFormElement} form @param {HTMLElement} said @param {HTMLElement} list @param {import("./project.js").Project} project */
export function setUpSearch(form, said, list, project) {
  let running = new AbortController();

  async function search(query) {
    const { signal } = (running = new AbortController());
    const answer = await project.post(project.address("v1/search"), { query, pageSize: MOST }, signal);
    if (!answer.ok)
      return [[], project.failure(answer.status, await sentence(answer), answer.headers.get("Retry-After"))];
    const hits = await answer.json();
    if (hits.length)
      return [hits, `${hits.length} ${hits.length === 1 ? "page" : "pages"}, best first, with scores from 0 to 1`];
    return [
      hits,
      `No page matches “${query}”. If nothing has been read in yet: manage ingest ${project.domain} ./docs`,
    ];
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    running.abort();
    const query = form.elements.query.value.trim();
    if (!query) return form.elements.query.focus();
    try {
      const [hits, words] = await search(query);
      list.replaceChildren(...hits.map(row));
      said.textContent = words;
    } catch (error) {
      if (error.name !== "AbortError") said.textContent = UNREACHABLE;
    }
  });
}
