// The playground: any project's widget, search and streams, on this page.

import { setUpSearch } from "./search-results.js";
import { setUpInspector } from "./inspector.js";
import { Project, UNREACHABLE } from "./project.js";
import { WITHOUT_ATTRIBUTE, call, tag } from "./snippet.js";

const PAUSE = 400; // milliseconds without a letter before the project is tried
const NUMBERS = ["radius", "zIndex"];
const MOST_QUESTIONS = 3;

const root = document.querySelector(".playground");
const form = root.querySelector("form.options");
const projectForm = root.querySelector("form.project");
const project = new Project(projectForm, root.dataset);
const said = { project: root.querySelector("form.project .said"), options: form.querySelector(".said") };

function originOf(address) {
  const link = document.createElement("a");
  link.href = address;
  return link.origin;
}

/** What is wrong with a value, where the form itself cannot tell. */
const WRONG = {
  accent: (value) => !CSS.supports("color", value) && "The accent is not a colour of CSS.",
  font: (value) => !CSS.supports("font-family", value) && "The font is not a font-family of CSS.",
  logo: (value) => originOf(value) !== location.origin && "Here the logo must be an image of this host.",
};

/** What the form says, without what is wrong: options by name, and a sentence for each that is left out. */
function chosen() {
  const options = {};
  const wrong = [];
  for (const [name, value] of new FormData(form)) {
    const text = value.trim();
    const [group, member] = name.split(".");
    if (!text || name === "dir") continue;
    const refused =
      WRONG[name]?.(text) ||
      (!form.elements[name].validity.valid && `${name}: ${form.elements[name].validationMessage}`);
    if (refused) wrong.push(refused);
    else if (member) options[group] = { ...options[group], [member]: text };
    else if (name === "starterQuestions") options[name] = text.split(/\s*\n\s*/).slice(0, MOST_QUESTIONS);
    else if (NUMBERS.includes(name)) options[name] = Number(text);
    else options[name] = name === "shortcuts" ? text === "true" : text;
  }
  return { options, wrong };
}

/** The widget on this page, as far as it was told: null when there is none. */
let shown = null;
let isOpen = false;
const hooks = {
  event: (name) => {
    if (name === "open" || name === "close") isOpen = name === "open";
  },
};

/** Shows the widget with these options. An option can be set while it stands there, but to be without one it begins anew. */
function show(options) {
  const { domain, key } = project;
  const goesOn =
    shown?.domain === domain && shown.key === key && Object.keys(shown.options).every((name) => name in options);
  if (goesOn) {
    window.DocsAssistant.update(options);
  } else {
    const wasOpen = isOpen;
    window.DocsAssistant.destroy();
    window.DocsAssistant.init({ ...options, domain, key, hooks });
    if (wasOpen) window.DocsAssistant.open({ focus: false });
  }
  shown = { domain, key, options };
}

function write(options) {
  const { domain, key } = project;
  const known = { domain: domain || "acme", key: key || "svc_dsc_…" };
  root.querySelector("[data-tag] code").textContent = tag(location.origin, known, options);
  root.querySelector("[data-init] code").textContent = call(location.origin, known, options);
  root.querySelector("[data-no-attribute]").hidden = !WITHOUT_ATTRIBUTE.some((name) => name in options);
}

let usable = false;

function configure() {
  const { options, wrong } = chosen();
  said.options.textContent = wrong.join(" ");
  document.documentElement.dir = form.elements.dir.value;
  write(options);
  if (usable) show(options);
}

let trying = new AbortController();

/** Tries the project, and shows its widget or says what is wrong. */
async function tryProject() {
  trying.abort();
  const { signal } = (trying = new AbortController());
  let problem;
  try {
    problem = await project.problem(signal);
    await loaded;
  } catch {
    problem = UNREACHABLE;
  }
  if (signal.aborted) return;
  usable = !problem;
  said.project.textContent = problem || `“${project.domain}” answers. Its widget is on this page.`;
  said.project.classList.toggle("wrong", Boolean(problem));
  const link = root.querySelector("[data-link]");
  link.href = project.link;
  link.parentElement.hidden = !usable;
  root.querySelector("[data-open]").disabled = !usable;
  if (!usable) {
    window.DocsAssistant?.destroy();
    shown = null;
  }
  configure();
}

const script = document.querySelector("script[src$='/widget.js']");
const loaded = new Promise((resolve, reject) => {
  if ("DocsAssistant" in window) return resolve();
  script.addEventListener("load", () => ("DocsAssistant" in window ? resolve() : reject()));
  script.addEventListener("error", reject);
});
loaded.catch(() => {});

write(chosen().options);
root.hidden = false;
const describe = setUpInspector(root, project);
setUpSearch(
  root.querySelector("form[role=search]"),
  root.querySelector("form[role=search] + .said"),
  root.querySelector(".found"),
  project,
);

let pause = 0;
projectForm.addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(tryProject, PAUSE);
  describe();
  write(chosen().options);
});
projectForm.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", configure);
form.addEventListener("reset", () => setTimeout(configure)); // the event comes before the form is empty
root.querySelector("[data-open]").addEventListener("click", () => window.DocsAssistant.open());
tryProject();
