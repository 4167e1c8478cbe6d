/**
 * What a site may choose about its widget. What the page says (`init`, `update`, the tag) goes before what the owner
 * set in the admin, and that before the defaults. `widget.d.ts` documents the same for those who use it.
 */

import { colorMix } from "./accent.js";
import { warn } from "./console.js";
import { h } from "./dom.js";

/**
 * @typedef {object} Options
 * @property {string} domain
 * @property {string} key
 * @property {"widget" | "panel" | "modal"} variant
 * @property {"system" | "light" | "dark"} theme
 * @property {string} accent a CSS colour; its contrast is seen to
 * @property {number} radius of the panel's corners, pixels
 * @property {string} font a CSS font-family
 * @property {"start" | "end" | "left" | "right"} side
 * @property {"bottom" | "top"} align
 * @property {string} logo address of an image of the page's own origin or the service's
 * @property {number} zIndex
 * @property {string} nonce of the page's content security policy
 * @property {"day" | "tab"} memory how long a conversation is kept
 * @property {boolean} shortcuts
 * @property {Record<string, string>} labels sentences instead of ours, by the keys of `words`
 * @property {string[]} starterQuestions
 * @property {{ version?: string, language?: string, tag?: string }} filter
 * @property {{ event?: (name: string, detail: Record<string, unknown>) => void, error?: (detail: Record<string, unknown>) => void }} hooks
 */

/** @type {Omit<Options, "domain" | "key">} */
export const DEFAULTS = {
  variant: "widget",
  theme: "system",
  accent: "",
  radius: 16,
  font: "",
  side: "end",
  align: "bottom",
  logo: "",
  zIndex: 2147483000,
  nonce: "",
  memory: "day",
  shortcuts: true,
  labels: {},
  starterQuestions: [],
  filter: {},
  hooks: {},
};

/**
 * What a value must be, as the console says it, and how that is told of a value that is of the kind of the default and
 * of the loader's address.
 * @typedef {[said: string, test: (value: any, script: string) => unknown]} Rule
 */

/** @param {...string} values @returns {Rule} */
const oneOf = (...values) => [values.join(", "), (value) => values.includes(value)];

/** A list, or things by name. Those that are undefined do not count. @param {string} said @param {string} kind @returns {Rule} */
const everyValue = (said, kind) => [
  said,
  (value) => Object.values(value).every((one) => one === undefined || typeof one === kind),
];

/** @type {Record<string, Rule>} */
const RULES = {
  variant: oneOf("widget", "panel", "modal"),
  theme: oneOf("system", "light", "dark"),
  // One by itself: not what another element has, and nothing that the page shows through.
  accent: [
    "a CSS color",
    (value) => CSS.supports("color", colorMix(value)) && !/var|env|attr|current|transparent/i.test(value),
  ],
  radius: ["a number from 0 to 32", (value) => value >= 0 && value <= 32],
  font: ["a CSS font-family", (value) => CSS.supports("font-family", value)],
  side: oneOf("start", "end", "left", "right"),
  align: oneOf("bottom", "top"),
  logo: [
    "of this origin or the service's",
    (value, script) => [location.origin, new URL(script).origin].includes(h("a", { href: value }).origin),
  ],
  zIndex: ["a whole number", Number.isInteger],
  memory: oneOf("day", "tab"),
  labels: everyValue("an object of strings", "string"),
  starterQuestions: everyValue("an array of strings", "string"),
  filter: everyValue("an object of strings", "string"),
  hooks: everyValue("an object of functions", "function"),
};

/** As `[object Array]`. */
const typeTag = (/** @type {unknown} */ value) => ({}).toString.call(value);

/**
 * Those of the given options that can be used; of the others the console is told what they may be.
 * @param {unknown} given from anyone
 * @param {string} script address of the loader; the service is on the same host
 * @returns {Partial<Options>}
 */
export function validateOptions(given, script) {
  /** @type {Record<string, unknown>} */
  const valid = {};
  /** @type {Record<string, unknown>} */
  const defaults = DEFAULTS;
  for (const [name, value] of Object.entries(Object(given))) {
    if (value === undefined) continue;
    if (!Object.hasOwn(defaults, name)) {
      warn(`there is no option ${name}.`);
      continue;
    }
    const byDefault = defaults[name];
    const [allowed, isValid] = RULES[name] ?? [`a ${typeof byDefault}`, () => true];
    if (value === byDefault || (typeTag(value) === typeTag(byDefault) && isValid(value, script))) valid[name] = value;
    else warn(`the option ${name} must be ${allowed}. It is`, value);
  }
  return valid;
}

/** A number, true or false, or else the text itself. @param {string} said */
function parseValue(said) {
  try {
    return JSON.parse(said);
  } catch {
    return said;
  }
}

/** What the tag's data attributes say, unchecked. @param {DOMStringMap} data @returns {Record<string, unknown>} */
export function parseTagOptions({ domain, key, version, language, tag, ...data }) {
  /** @type {Record<string, unknown>} */
  const options = { domain, key };
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    const said = data[name];
    if (said === undefined || typeof usual === "object") continue;
    options[name] = typeof usual === "string" ? said : parseValue(said);
  }
  if (version || language || tag) options.filter = { version, language, tag };
  return options;
}

/**
 * On which side of a line that is; which one that is on the screen depends on where the page's lines begin.
 * @param {Options["side"]} side
 * @param {Element} element
 */
export const logicalSide = (side, element) =>
  side === "left" || side === "right"
    ? (side === "left") === (getComputedStyle(element).direction === "ltr")
      ? "start"
      : "end"
    : side;
