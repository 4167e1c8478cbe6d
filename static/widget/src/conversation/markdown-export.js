/** Exports a conversation as a Markdown document. It holds nothing of the page around the widget. */

import { labels } from "../base/labels.js";
import { splitSuggestions } from "../markdown/addresses.js";
import { numberSources } from "./thread.js";

/** @typedef {import("./thread.js").Turn} Turn */

/**
 * @param {import("./thread.js").Thread} thread
 * @param {Date} date
 * @returns {string}
 */
export const exportMarkdown = ({ turns }, date) =>
  [`# ${labels.name}`, date.toISOString().slice(0, 10), ...turns.map(formatTurn).filter(Boolean)].join("\n\n") + "\n";

/** @param {Turn} turn */
function formatTurn(turn) {
  if (turn.role === "user") return `## ${labels.asked}\n\n${turn.text.replace(/^/gm, "> ")}`;
  const { body } = splitSuggestions(turn.text, "https://docs.invalid/", turn.site);
  if (!body.trim()) return "";
  const sources = numberSources(body, turn.sources).map(
    ({ number, title, url }) =>
      `${number}. [${escapeMarkdown(title)}](<${url.replace(/[<>\s]/g, encodeURIComponent)}>)`,
  );
  return [
    `## ${labels.answered}`,
    body.trim(),
    ...(sources.length ? [`${labels.sources}:`, sources.join("\n")] : []),
  ].join("\n\n");
}

/** A title with its Markdown characters escaped. @param {string} text */
const escapeMarkdown = (text) => text.replace(/\s+/g, " ").replace(/[\\`*_[\]<>]/g, "\\$&");
