/** The sentences of a site, in the attribute `data-labels` of its search tag. */

import { warn } from "../base/console.js";

/** @param {string} [json] @returns {Record<string, string>} */
export function readLabels(json = "{}") {
  try {
    return Object(JSON.parse(json));
  } catch {
    warn("data-labels must be a JSON object.");
    return {};
  }
}
