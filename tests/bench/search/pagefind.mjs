// Pagefind in Node: its indexer gets each page as HTML, its browser code searches. Of a browser that code needs only
// `fetch`, which is served from memory here, and the language of the document.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const PAGES = 10;
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const facet = (kind, value) => `<meta data-pagefind-filter="${kind}[content]" content="${escaped(value)}">`;

/** A page of its sections: the title weighs as h1 does, headings by their depth. */
function html(sections) {
  const [{ title, version, language, tags }] = sections;
  const facets = [facet("version", version || "any"), facet("language", language || "any")];
  const body = sections.map(({ trail, text }, index) => {
    const level = Math.min(6, trail.length + 1);
    const heading = trail.length ? `<h${level} id="s${index}">${escaped(trail.at(-1))}</h${level}>` : "";
    return `${heading}${text.split("\n").map((line) => `<p>${escaped(line)}</p>`).join("")}`;
  });
  return `<html lang="en"><head>${[...facets, ...tags.map((tag) => facet("tag", tag))].join("")}</head>
    <body data-pagefind-body><h1>${escaped(title)}</h1>${body.join("")}</body></html>`;
}

/** Facets are Pagefind's own filters. One index for all languages: a query does not tell its language. */
export async function pagefind() {
  const indexer = await import("pagefind");
  const served = new Map();
  globalThis.document = { currentScript: null, querySelector: () => ({ getAttribute: () => "en" }) };
  globalThis.fetch = async (address) => {
    const file = served.get(String(address).split("?")[0]);
    return file ? new Response(file) : new Response(null, { status: 404 });
  };
  return {
    async build(sections) {
      const { index } = await indexer.createIndex({ forceLanguage: "en" });
      const pages = grouped(sections);
      for (const [path, parts] of pages) await index.addHTMLFile({ url: path, content: html(parts) });
      const { files } = await index.getFiles();
      await indexer.close(); // its process; the next build starts another
      const site = mkdtempSync(join(tmpdir(), "pagefind-"));
      for (const { path, content } of files) served.set(pathToFileURL(join(site, path)).href, content);
      const script = files.find(({ path }) => path === "pagefind.js");
      writeFileSync(join(site, "pagefind.js"), script.content);
      const search = await import(pathToFileURL(join(site, "pagefind.js")).href);
      await search.init();
      return search;
    },
    async find(search, text, filter) {
      const filters = Object.entries(filter ?? {}).map(([kind, value]) => [
        kind,
        kind === "tag" ? value : { any: [value, "any"] },
      ]);
      const { results } = await search.search(text, { filters: Object.fromEntries(filters) });
      return results.slice(0, PAGES);
    },
    /** Results name their pages only when they are loaded; not timed. */
    paths: async (results) => Promise.all(results.map(async (result) => (await result.data()).raw_url)),
  };
}

/** Sections by the path of their page. */
function grouped(sections) {
  const pages = new Map();
  for (const section of sections) {
    if (!pages.has(section.path)) pages.set(section.path, []);
    pages.get(section.path).push(section);
  }
  return pages;
}
