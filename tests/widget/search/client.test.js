import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { search } from "../../../static/site/js/search/client.js";
import { words } from "../../../static/site/js/search/site.js";

const { signal } = new AbortController();
/** Filters of the requests, in order. @type {object[]} */
let filters;

beforeEach(() => {
  filters = [];
  globalThis.document = { documentElement: { lang: "en" } };
  Object.assign(words, { searchFails: "It fails.", searchAway: "It is away.", tooManySearches: "Wait {wait}." });
});

/** A page that a search finds. */
const hit = (path, metadata) => ({ path, content: "", metadata });

/** Has the service answer with those of some hits that a filter lets through. */
function serve(...hits) {
  globalThis.fetch = async (_, { body }) => {
    const { filter } = JSON.parse(body);
    filters.push(filter);
    const fits = ({ metadata }) => Object.entries(filter).every(([name, value]) => metadata[name] === value);
    return Response.json(hits.filter(fits));
  };
}

/** The paths that a page of this language and version shows for a query. */
async function shown(preferred, filter = {}) {
  const site = { service: "https://docs.example", domain: "acme", key: "key", preferred };
  return (await search(site, "words", filter, signal)).hits.map(({ path }) => path);
}

describe("a search", () => {
  const english = hit("/a", { language: "en", version: "2" });
  const german = hit("/de/a", { language: "de", version: "2" });
  const old = hit("/1/a", { language: "en", version: "1" });

  it("is one request where all hits are of this page's language and version", async () => {
    serve(english);
    assert.deepEqual(await shown({ language: "en", version: "2" }), ["/a"]);
    assert.deepEqual(filters, [{}]);
  });

  it("puts what is of this page's language and version first", async () => {
    serve(german, old, english);
    assert.deepEqual(await shown({ language: "en", version: "2" }), ["/a", "/1/a"]);
    assert.deepEqual(filters, [{}, { language: "en", version: "2" }]);
  });

  it("shows English pages after those of another language, and other languages only where nothing else is", async () => {
    serve(english, german);
    assert.deepEqual(await shown({ language: "de" }), ["/de/a", "/a"]);
    serve(german);
    assert.deepEqual(await shown({ language: "en" }), ["/de/a"]);
  });

  it("takes what the reader chose before what the page is", async () => {
    serve(old, german);
    assert.deepEqual(await shown({ version: "2" }, { version: "1" }), ["/1/a"]);
    assert.deepEqual(filters, [{ version: "1" }]);
  });
});

describe("a failed search", () => {
  const away = () => Promise.reject(new TypeError("Failed to fetch"));
  const status = (code, headers) => async () => new Response("", { status: code, headers });
  const rows = [
    ["a short limit", status(429, { "Retry-After": "7" }), "Wait 7 seconds."],
    ["a limit of minutes", status(429, { "Retry-After": "2405" }), "Wait 41 minutes."],
    ["a limit of hours", status(429, { "Retry-After": "50401" }), "Wait 15 hours."],
    ["a limit without an end", status(429), "Wait 1 second."],
    ["a service that fails", status(503), "It fails."],
    ["no network", away, "It is away."],
  ];
  for (const [what, fetch, message] of rows)
    it(`says what readers can do: ${what}`, async () => {
      globalThis.fetch = fetch;
      await assert.rejects(shown({}), { message });
    });
});
