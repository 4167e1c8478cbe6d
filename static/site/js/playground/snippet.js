// What a site's owner takes along from the playground: the tag, the same as a call, a request for the command line.

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const attribute = (name, value) => `${name}="${String(value).replace(/[&<>"]/g, (letter) => ESCAPES[letter])}"`;

/** As a data attribute: `zIndex` is `data-z-index`. @param {string} name */
const dataName = (name) => `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The options with the logo's whole address, which is on this host and not on that of the pages. */
const portable = (host, options) => (options.logo ? { ...options, logo: new URL(options.logo, host).href } : options);

/** Options that a tag cannot say. */
export const WITHOUT_ATTRIBUTE = ["labels", "starterQuestions"];

/** The tag. @param {string} host @param {{ domain: string, key: string }} project @param {Record<string, any>} options */
export function tag(host, { domain, key }, { filter = {}, ...options }) {
  const said = Object.entries({ ...portable(host, options), ...filter }).filter(
    ([name]) => !WITHOUT_ATTRIBUTE.includes(name),
  );
  const lines = [
    `<script async ${attribute("src", `${host}/widget.js`)}`,
    `${attribute("data-domain", domain)} ${attribute("data-key", key)}`,
    ...said.map(([name, value]) => attribute(dataName(name), value)),
  ];
  return `${lines.join("\n        ")}></script>`;
}

/** The same from a page's own code. No text in it can end the script. @param {string} host @param {{ domain: string, key: string }} project @param {Record<string, any>} options */
export function call(host, { domain, key }, options) {
  const given = JSON.stringify({ domain, key, ...portable(host, options) }, null, 2).replace(/</g, "\\u003c");
  return [
    `<script async ${attribute("src", `${host}/widget.js`)}></script>`,
    "<script>",
    `addEventListener("load", () => DocsAssistant.init(${given}));`,
    "</script>",
  ].join("\n");
}

/** For a POSIX shell. @param {string} url @param {string} key @param {object} body */
export function curl(url, key, body) {
  const quoted = (text) => `'${text.replace(/'/g, `'\\''`)}'`;
  return [
    `curl -N ${quoted(url)}`,
    `  -H ${quoted(`Authorization: Bearer ${key}`)}`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${quoted(JSON.stringify(body))}`,
  ].join(" \\\n");
}
