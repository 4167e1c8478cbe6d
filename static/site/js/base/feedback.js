// Sends what readers think of a page, of a block of code, or of a search without results.

import { base } from "./address.js";
import { labels } from "./labels.js";
import { fill, formatWait } from "./sentences.js";

/**
 * @typedef {object} Feedback
 * @property {"thumbs_only" | "contextual" | "code_snippet"} [source]
 * @property {boolean} [helpful]
 * @property {FormDataEntryValue} [reason]
 * @property {FormDataEntryValue} [comment]
 * @property {FormDataEntryValue} [contact]
 * @property {string} [code]
 * @property {string} [lang]
 * @property {string} [filename]
 */

const dialog = document.querySelector(".search-dialog");
const domain = dialog instanceof HTMLElement ? dialog.dataset.domain : undefined;

/** Whether this site has a project that stores feedback. */
export const isStored = domain !== undefined;

/** 128 random bits. `randomUUID` exists on secure pages only. */
const randomId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {object} content @returns {Promise<string>} a sentence about the failure; empty if there was none */
async function send(content) {
  try {
    const options = { method: "POST", body: JSON.stringify(content), keepalive: true };
    const response = await fetch(`${base}/discovery/v1/feedback/${domain}`, options);
    if (response.ok) return "";
    if (response.status !== 429) return labels.notKept;
    return fill(labels.tooMuchSaid, { wait: formatWait(response.headers.get("Retry-After")) });
  } catch {
    return labels.notSent;
  }
}

/**
 * Makes a function that sends feedback about one thing. Each call replaces the feedback of the call before; `{}`
 * withdraws it. Resolves with a sentence about the failure, or an empty text.
 * @param {Feedback} common fields of each call
 * @returns {(feedback: Feedback) => Promise<string>}
 */
export function feedbackSender(common) {
  const id = randomId();
  let last = Promise.resolve("");
  return (feedback) => {
    last = last.then(() => send({ path: location.pathname, id, ...common, ...feedback }));
    return last;
  };
}
