/** Addresses in answers, and what of an answer can be read without parsing its Markdown. */

/** @typedef {{ label: string, href: string }} Suggestion */

/**
 * Splits off the block with pages to read next, which becomes a list of links. Only the service writes one, with paths
 * of the documentation.
 * @param {string} text
 * @param {string} base
 * @param {string} [site] address at which paths begin
 * @returns {{ body: string, suggestions: Suggestion[] }}
 */
export function splitSuggestions(text, base, site = "") {
  const match = /(?:^|\n)```suggestions[ \t]*\n((?:(?!```)[\s\S])*)(?:```\s*)?$/.exec(text);
  if (!match) return { body: text, suggestions: [] };
  /** @type {Suggestion[]} */
  const suggestions = [];
  for (const [, label, target] of match[1].matchAll(/^[ \t]*\(([^()\n]+)\)\[(\/(?!\/)[^\]\n]*)\][ \t]*$/gm)) {
    const href = resolveAddress(site + target, base);
    if (href) suggestions.push({ label, href });
  }
  return { body: text.slice(0, match.index), suggestions };
}

/** An address that may be followed, absolute, or null. @param {string} href @param {string} base */
export function resolveAddress(href, base) {
  try {
    const url = new URL(decodeEntities(href), base);
    // Many readers take the part before an @ for the host.
    return ["http:", "https:", "mailto:"].includes(url.protocol) && !url.username && !url.password ? url.href : null;
  } catch {
    return null;
  }
}

/** The hosts of these addresses and of the page. @param {string[]} urls */
export function hostsOf(urls) {
  const hosts = new Set([location.host]);
  for (const url of urls) {
    const href = resolveAddress(url, location.href);
    if (href) hosts.add(new URL(href).host);
  }
  return hosts;
}

/** Removes characters that change the order in which a text is displayed, and our blanks. @param {string} text */
export const stripBidiControls = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069\ufeff]/g, "");

/** @type {Record<string, string>} */
const ENTITIES = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  larr: "←",
  rarr: "→",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  bull: "•",
  le: "≤",
  ge: "≥",
  ne: "≠",
  times: "×",
};

/** Decodes entities, which the lexer does not do. @param {string} text */
export function decodeEntities(text) {
  return stripBidiControls(
    text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
      if (name) return Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : whole;
      const code = decimal ? Number(decimal) : parseInt(hex, 16);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    }),
  );
}
