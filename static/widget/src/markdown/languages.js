/** Names of programming languages. */

/** @typedef {{ id: string, name: string, variant?: boolean }} Language `variant`: pages often show one task in several of these languages */

/** @type {Record<string, string>} */
const VARIANTS = {
  c: "C",
  cpp: "C++",
  csharp: "C#",
  go: "Go",
  java: "Java",
  js: "JavaScript",
  kotlin: "Kotlin",
  php: "PHP",
  py: "Python",
  ruby: "Ruby",
  rs: "Rust",
  swift: "Swift",
  ts: "TypeScript",
};

/** @type {Record<string, string>} */
const NAMES = {
  ...VARIANTS,
  bash: "Bash",
  css: "CSS",
  diff: "Diff",
  html: "HTML",
  ini: "INI",
  json: "JSON",
  sql: "SQL",
  toml: "TOML",
  xml: "XML",
  yaml: "YAML",
};

/** @type {Record<string, string>} */
const ALIASES = {
  "c#": "csharp",
  "c++": "cpp",
  console: "bash",
  cs: "csharp",
  env: "ini",
  golang: "go",
  htm: "html",
  javascript: "js",
  json5: "json",
  jsonc: "json",
  jsx: "js",
  kt: "kotlin",
  mjs: "js",
  patch: "diff",
  python: "py",
  python3: "py",
  rb: "ruby",
  rust: "rs",
  sh: "bash",
  shell: "bash",
  svg: "xml",
  tsx: "ts",
  typescript: "ts",
  yml: "yaml",
  zsh: "bash",
};

/**
 * The language of a fence. An unknown one keeps the name that the fence has.
 * @param {string} lang
 * @returns {Language}
 */
export function findLanguage(lang) {
  const id = lang.toLowerCase();
  const known = Object.hasOwn(ALIASES, id) ? ALIASES[id] : id;
  return Object.hasOwn(NAMES, known)
    ? { id: known, name: NAMES[known], variant: Object.hasOwn(VARIANTS, known) }
    : { id, name: lang };
}
