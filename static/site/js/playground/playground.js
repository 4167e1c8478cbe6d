// The playground: any project's widget, search and streams, on this page.

import { fieldOf, find } from "../base/dom.js";
import { setUpInspector } from "./inspector.js";
import { Project, UNREACHABLE } from "./project.js";
import { setUpSearch } from "./search-results.js";
import { initCall, scriptTag, WITHOUT_ATTRIBUTE } from "./snippet.js";

/** @typedef {Record<string, unknown>} Options by the names of `DocsAssistant.Options` */

const DELAY = 400; // milliseconds without a letter before the project is checked
const NUMBERS = ["radius", "zIndex"];
const MAX_QUESTIONS = 3;

const root = find(document, ".playground", HTMLElement);
const form = find(root, "form.options", HTMLFormElement);
const formStatus = find(form, ".said", HTMLElement);
const projectForm = find(root, "form.project", HTMLFormElement);
const projectStatus = find(projectForm, ".said", HTMLElement);
const openButton = find(root, "[data-open]", HTMLButtonElement);
const project = new Project(projectForm, root.dataset);

/** @param {string} address */
function originOf(address) {
  const link = document.createElement("a");
  link.href = address;
  return link.origin;
}

/**
 * Rules that the form itself does not have: the sentence for a wrong value, or empty.
 * @type {Record<string, (value: string) => string>}
 */
const RULES = {
  accent: (value) => (CSS.supports("color", value) ? "" : "The accent is not a colour of CSS."),
  font: (value) => (CSS.supports("font-family", value) ? "" : "The font is not a font-family of CSS."),
  logo: (value) => (originOf(value) === location.origin ? "" : "Here the logo must be an image of this host."),
};

/** @param {string} name @param {string} value @returns {string} the sentence for a wrong value, or empty */
function findMistake(name, value) {
  const { validity, validationMessage } = fieldOf(form, name);
  return RULES[name]?.(value) || (validity.valid ? "" : `${name}: ${validationMessage}`);
}

/** @param {string} name @param {string} text */
function parseValue(name, text) {
  if (name === "starterQuestions") return text.split(/\s*\n\s*/).slice(0, MAX_QUESTIONS);
  if (NUMBERS.includes(name)) return Number(text);
  return name === "shortcuts" ? text === "true" : text;
}

/** Reads the form: options with valid values, and a sentence for each other value. */
function readOptions() {
  /** @type {Options} */
  const options = {};
  /** @type {Record<string, Record<string, string>>} options with members, such as `filter` */
  const groups = {};
  const mistakes = [];
  for (const [name, value] of new FormData(form)) {
    const text = String(value).trim();
    const [group, member] = name.split(".");
    if (!text || name === "dir") continue;
    const mistake = findMistake(name, text);
    if (mistake) mistakes.push(mistake);
    else if (member) options[group] = groups[group] = { ...groups[group], [member]: text };
    else options[name] = parseValue(name, text);
  }
  return { options, mistakes };
}

/** The widget on this page; null while there is none. @type {{ domain: string, key: string, options: Options } | null} */
let current = null;
let isOpen = false;
const hooks = {
  event: (/** @type {string} */ name) => {
    if (name === "open" || name === "close") isOpen = name === "open";
  },
};

/**
 * Shows the widget with these options. A widget takes new options while it is shown, but does not drop one: then it
 * starts again.
 * @param {Options} options
 */
function show(options) {
  const { domain, key } = project;
  const canUpdate =
    current?.domain === domain && current.key === key && Object.keys(current.options).every((name) => name in options);
  if (canUpdate) {
    window.DocsAssistant.update(options);
  } else {
    const wasOpen = isOpen;
    window.DocsAssistant.destroy();
    window.DocsAssistant.init({ ...options, domain, key, hooks });
    if (wasOpen) window.DocsAssistant.open({ focus: false });
  }
  current = { domain, key, options };
}

/** @param {Options} options */
function showSnippets(options) {
  const { domain, key } = project;
  const credentials = { domain: domain || "acme", key: key || "svc_dsc_…" };
  find(root, "[data-tag] code", HTMLElement).textContent = scriptTag(location.origin, credentials, options);
  find(root, "[data-init] code", HTMLElement).textContent = initCall(location.origin, credentials, options);
  find(root, "[data-no-attribute]", HTMLElement).hidden = !WITHOUT_ATTRIBUTE.some((name) => name in options);
}

let isUsable = false;

/** Applies the form of options. */
function update() {
  const { options, mistakes } = readOptions();
  formStatus.textContent = mistakes.join(" ");
  document.documentElement.dir = fieldOf(form, "dir").value;
  showSnippets(options);
  if (isUsable) show(options);
}

let checking = new AbortController();

/** Checks the project. Shows its widget, or why there is none. */
async function checkProject() {
  checking.abort();
  checking = new AbortController();
  const { signal } = checking;
  let problem;
  try {
    problem = await project.findProblem(signal);
    await loaded;
  } catch {
    problem = UNREACHABLE;
  }
  if (signal.aborted) return;
  isUsable = !problem;
  projectStatus.textContent = problem || `“${project.domain}” answers. Its widget is on this page.`;
  projectStatus.classList.toggle("wrong", Boolean(problem));
  const link = find(root, "[data-link]", HTMLAnchorElement);
  link.href = project.link;
  find(root, ":has(> [data-link])", HTMLElement).hidden = !isUsable;
  openButton.disabled = !isUsable;
  if (!isUsable) {
    if ("DocsAssistant" in window) window.DocsAssistant.destroy();
    current = null;
  }
  update();
}

/** Resolves when the widget's script has run. @type {Promise<void>} */
const loaded = new Promise((resolve, reject) => {
  if ("DocsAssistant" in window) return resolve();
  const script = find(document, "script[src$='/widget.js']", HTMLScriptElement);
  script.addEventListener("load", () => ("DocsAssistant" in window ? resolve() : reject()));
  script.addEventListener("error", reject);
});
loaded.catch(() => {});

showSnippets(readOptions().options);
root.hidden = false;
const updateCommand = setUpInspector(root, project);
setUpSearch(
  find(root, "form[role=search]", HTMLFormElement),
  find(root, "form[role=search] + .said", HTMLElement),
  find(root, ".found", HTMLElement),
  project,
);

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
projectForm.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(checkProject, DELAY);
  updateCommand();
  showSnippets(readOptions().options);
});
projectForm.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", update);
form.addEventListener("reset", () => setTimeout(update)); // the event comes before the form is empty
openButton.addEventListener("click", () => window.DocsAssistant.open());
checkProject();
