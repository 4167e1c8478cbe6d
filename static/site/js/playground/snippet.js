// Code to copy from the playground: the script tag, a call of `init`, a request for the command line.

/** @typedef {{ domain: string, key: string }} Credentials */
/** @typedef {Record<string, unknown>} Options */

/** @type {Record<string, string>} */
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** @param {string} name @param {unknown} value */
const attribute = (name, value) => `${name}="${String(value).replace(/[&<>"]/g, (letter) => ESCAPES[letter])}"`;

/** The data attribute of an option: `zIndex` is `data-z-index`. @param {string} name */
const dataAttribute = (name) => `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/**
 * Options for a page on any host: the logo gets the host of the service.
 * @param {string} host
 * @param {Options} options
 * @returns {Options}
 */
const withLogoHost = (host, options) =>
  options.logo ? { ...options, logo: new URL(String(options.logo), host).href } : options;

/** Options that have no attribute. */
export const WITHOUT_ATTRIBUTE = ["labels", "starterQuestions"];

/** @param {string} host @param {Credentials} credentials @param {Options} options */
export function scriptTag(host, { domain, key }, { filter, ...options }) {
  const attributes = Object.entries({ ...withLogoHost(host, options), ...Object(filter) });
  const lines = [
    `<script async ${attribute("src", `${host}/widget.js`)}`,
    `${attribute("data-domain", domain)} ${attribute("data-key", key)}`,
    ...attributes
      .filter(([name]) => !WITHOUT_ATTRIBUTE.includes(name))
      .map(([name, value]) => attribute(dataAttribute(name), value)),
  ];
  return `${lines.join("\n        ")}></script>`;
}

/**
 * The same from a page's own code. No text in it can end the script.
 * @param {string} host
 * @param {Credentials} credentials
 * @param {Options} options
 */
export function initCall(host, { domain, key }, options) {
  const argument = JSON.stringify({ domain, key, ...withLogoHost(host, options) }, null, 2).replace(/</g, "\\u003c");
  return [
    `<script async ${attribute("src", `${host}/widget.js`)}></script>`,
    "<script>",
    `addEventListener("load", () => DocsAssistant.init(${argument}));`,
    "</script>",
  ].join("\n");
}

/** A request for a POSIX shell. @param {string} url @param {string} key @param {object} body */
export function curlCommand(url, key, body) {
  const quote = (/** @type {string} */ text) => `'${text.replace(/'/g, `'\\''`)}'`;
  return [
    `curl -N ${quote(url)}`,
    `  -H ${quote(`Authorization: Bearer ${key}`)}`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${quote(JSON.stringify(body))}`,
  ].join(" \\\n");
}
