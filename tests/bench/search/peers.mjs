// The peers from npm as workers: `node peers.mjs minisearch` takes a line of JSON and answers with one.
//
// Every engine gets the same sections and is set up as its documentation advises for search on a site; of a handful
// of field boosts it has those that were best for it on the development data. `find` returns the paths of sections,
// best first. Times are those of finding and folding to pages.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const PAGES = 10;

/** Whether a section has the wanted facets. A page without a version or language belongs to each of them. */
const fits = (section, filter) =>
  Object.entries(filter ?? {}).every(([kind, value]) =>
    kind === "tag" ? section.tags.includes(value) : ["", value].includes(section[kind]),
  );

/** Typos and beginnings as in its README. */
async function minisearch() {
  const { default: MiniSearch } = await import("minisearch");
  return {
    build(sections) {
      const index = new MiniSearch({
        fields: ["title", "headings", "text"],
        storeFields: ["path", "version", "language", "tags"],
        searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, headings: 2, text: 1 } },
      });
      index.addAll(sections);
      return index;
    },
    find: (index, text, filter) =>
      index.search(text, filter ? { filter: (hit) => fits(hit, filter) } : {}).map((hit) => hit.path),
  };
}

/** English pipeline; exact words far above beginnings, those above one typo, as its guide to typing ahead has it. */
async function lunr() {
  const { default: lunr } = await import("lunr");
  const { TRAILING } = lunr.Query.wildcard;
  return {
    build(sections) {
      const index = lunr(function () {
        this.ref("id");
        this.field("title", { boost: 2 });
        this.field("headings");
        this.field("text");
        sections.forEach((section) => this.add(section));
      });
      return { index, byId: new Map(sections.map((section) => [String(section.id), section])) };
    },
    find({ index, byId }, text, filter) {
      const words = lunr.tokenizer(text).map((token) => token.toString().replace(/^\W+|\W+$/g, "")).filter(Boolean);
      const hits = index.query((query) => {
        query.term(words, { boost: 100 });
        query.term(words, { boost: 10, usePipeline: false, wildcard: TRAILING });
        query.term(words, { boost: 1, usePipeline: false, editDistance: 1 });
      });
      return hits.map((hit) => byId.get(hit.ref)).filter((section) => fits(section, filter)).map(({ path }) => path);
    },
  };
}

/** English stemmer, beginnings of words count; typos do not, which was better. Filters are its own. */
async function orama() {
  const { create, insertMultiple, search } = await import("@orama/orama");
  const enums = { path: "enum", version: "enum", language: "enum", tags: "enum[]" };
  const where = (filter) =>
    Object.fromEntries(
      Object.entries(filter ?? {}).map(([kind, value]) =>
        kind === "tag" ? ["tags", { containsAll: [value] }] : [kind, { in: ["", value] }],
      ),
    );
  return {
    async build(sections) {
      const index = create({
        schema: { title: "string", headings: "string", text: "string", ...enums },
        components: { tokenizer: { language: "english", stemming: true, stemmerSkipProperties: Object.keys(enums) } },
      });
      await insertMultiple(index, sections.map(({ id, ...section }) => ({ ...section, id: String(id) })), 500);
      return index;
    },
    find: async (index, term, filter) =>
      (
        await search(index, {
          term,
          properties: ["title", "headings", "text"],
          boost: { title: 2 },
          limit: PAGES * 10,
          ...(filter ? { where: where(filter) } : {}),
        })
      ).hits.map((hit) => hit.document.path),
  };
}

const ENGINES = { minisearch, lunr, orama };
const engine = await (ENGINES[process.argv[2]] ?? (await import("./pagefind.mjs")).pagefind)();
const indexes = new Map();

const COMMANDS = {
  async build({ set, file }) {
    const sections = readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
    const began = performance.now();
    indexes.set(set, await engine.build(sections));
    return { seconds: (performance.now() - began) / 1000 };
  },

  async ask({ set, queries }) {
    const index = indexes.get(set);
    const pages = [];
    const ms = [];
    for (const [text, filter] of queries) {
      const began = performance.now();
      const found = await engine.find(index, text, filter);
      const folded = [...new Set(found)].slice(0, PAGES);
      ms.push(performance.now() - began);
      pages.push(engine.paths ? await engine.paths(folded) : folded);
    }
    return { pages, ms };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { do: what, ...rest } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(await COMMANDS[what](rest))}\n`);
}
process.exit(0);
