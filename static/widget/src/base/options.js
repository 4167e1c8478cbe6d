/**
 * The options of a widget. Options of the page (`init`, `update`, the tag) override the owner's options from the
 * admin, and these override the defaults. `widget.d.ts` documents them for sites.
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
 * @property {string} accent a CSS colour; where it lacks contrast it is adjusted
 * @property {number} radius of the panel's corners, pixels
 * @property {string} font a CSS font-family
 * @property {"start" | "end" | "left" | "right"} side
 * @property {"bottom" | "top"} align
 * @property {string} logo address of an image of the page's own origin or the service's
 * @property {string} readerToken signed by the site, with the groups of its reader
 * @property {number} zIndex
 * @property {string} nonce of the page's content security policy
 * @property {"day" | "tab"} memory how long a conversation is kept
 * @property {boolean} shortcuts
 * @property {Record<string, string>} labels sentences of the site, by the keys of `labels.js`
 * @property {string[]} starterQuestions
 * @property {{ version?: string, language?: string, tag?: string }} filter
 * @property {string} support address of the form to write to a person; empty without one
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
  readerToken: "",
  labels: {},
  starterQuestions: [],
  filter: {},
  hooks: {},
  support: "",
};

/**
 * A rule for a value: its sentence in the console, and a test. The value has the type of the default. `script` is the
 * address of the loader.
 * @typedef {[sentence: string, test: (value: any, script: string) => unknown]} Rule
 */

/** @param {...string} values @returns {Rule} */
/* @__NO_SIDE_EFFECTS__ */ const oneOf = (...values) => [values.join(", "), (value) => values.includes(value)];

/** For a list, or an object: each value has a type or is undefined. @param {string} sentence @param {string} type @returns {Rule} */
/* @__NO_SIDE_EFFECTS__ */ const everyValue = (sentence, type) => [
  sentence,
  (value) => Object.values(value).every((one) => one === undefined || typeof one === type),
];

// The panel needs no rules. The bundler leaves them out there, because it is told that nothing above has side effects.
/** @type {Record<string, Rule>} */
const RULES = {
  variant: oneOf("widget", "panel", "modal"),
  theme: oneOf("system", "light", "dark"),
  // A colour by itself: it must not depend on another element, and must be opaque.
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
    (value, service) => [location.origin, new URL(service).origin].includes(h("a", { href: value }).origin),
  ],
  zIndex: ["a whole number", Number.isInteger],
  memory: oneOf("day", "tab"),
  labels: everyValue("an object of strings", "string"),
  starterQuestions: everyValue("an array of strings", "string"),
  filter: everyValue("an object of strings", "string"),
  hooks: everyValue("an object of functions", "function"),
};

/** The type as `[object Array]`. */
const typeTag = (/** @type {unknown} */ value) => ({}).toString.call(value);

/**
 * Returns the valid options. The console warns about each invalid one, with the allowed values.
 * @param {unknown} options unchecked
 * @param {string} service an address on its host
 * @returns {Partial<Options>}
 */
export function validateOptions(options, service) {
  /** @type {Record<string, unknown>} */
  const valid = {};
  /** @type {Record<string, unknown>} */
  const defaults = DEFAULTS;
  for (const [name, value] of Object.entries(Object(options))) {
    if (value === undefined) continue;
    if (!Object.hasOwn(defaults, name)) {
      warn(`there is no option ${name}.`);
      continue;
    }
    const byDefault = defaults[name];
    const [allowed, isValid] = RULES[name] ?? [`a ${typeof byDefault}`, () => true];
    if (value === byDefault || (typeTag(value) === typeTag(byDefault) && isValid(value, service))) valid[name] = value;
    else warn(`the option ${name} must be ${allowed}. It is`, value);
  }
  return valid;
}

/** A number or a boolean if the text is one, else the text. @param {string} text */
function parseValue(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The options in the data attributes of the tag, unchecked. @param {DOMStringMap} data @returns {Record<string, unknown>} */
export function parseTagOptions({ domain, key, version, language, tag, ...data }) {
  /** @type {Record<string, unknown>} */
  const options = { domain, key };
  for (const [name, byDefault] of Object.entries(DEFAULTS)) {
    const text = data[name];
    if (text === undefined || typeof byDefault === "object") continue;
    options[name] = typeof byDefault === "string" ? text : parseValue(text);
  }
  if (version || language || tag) options.filter = { version, language, tag };
  return options;
}

/**
 * Whether a side is the start or the end of a line, which depends on the page's direction of writing.
 * @param {Options["side"]} side
 * @param {Element} element
 */
export const logicalSide = (side, element) =>
  side === "left" || side === "right"
    ? (side === "left") === (getComputedStyle(element).direction === "ltr")
      ? "start"
      : "end"
    : side;
