/** A conversation as a Markdown document, to be kept. Nothing of the page it was held on is in it. */

import { withoutSuggestions } from "../markdown/parser.js";
import { numbered } from "./thread.js";
import { words } from "../base/labels.js";

/** @typedef {import("./thread.js").Turn} Turn */

/**
 * @param {import("./thread.js").Thread} thread
 * @param {Date} date
 * @returns {string}
 */
export const asMarkdown = ({ turns }, date) =>
  [`# ${words.name}`, date.toISOString().slice(0, 10), ...turns.map(section).filter(Boolean)].join("\n\n") + "\n";

/** @param {Turn} turn */
function section(turn) {
  if (turn.role === "user") return `## ${words.asked}\n\n${turn.text.replace(/^/gm, "> ")}`;
  const { body } = withoutSuggestions(turn.text, "https://docs.invalid/", turn.site);
  if (!body.trim()) return "";
  const sources = numbered(body, turn.sources).map(
    ({ number, title, url }) => `${number}. [${plain(title)}](<${url.replace(/[<>\s]/g, encodeURIComponent)}>)`,
  );
  return [
    `## ${words.answered}`,
    body.trim(),
    ...(sources.length ? [`${words.sources}:`, sources.join("\n")] : []),
  ].join("\n\n");
}

/** A title as Markdown that shows it and does nothing else. @param {string} text */
const plain = (text) => text.replace(/\s+/g, " ").replace(/[\\`*_[\]<>]/g, "\\$&");
