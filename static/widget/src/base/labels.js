/**
 * Every sentence that readers see. `fill` fills in the `{names}`. A site may replace each of them by its own sentence
 * (the option `labels`, by these keys).
 */

import { launcherLabels } from "./launcher-labels.js";

export const labels = {
  ...launcherLabels,
  locale: "en",
  wider: "Make wider",
  narrower: "Make narrower",
  greeting: "What are you looking for?",
  promise: "Ask in your own words. Answers come from these docs, with links to the pages they use.",
  starters: "Questions to start with",
  caution: "Answers come from these docs and can still be wrong.",
  transcript: "Conversation",

  send: "Send",
  stop: "Stop",
  newThread: "New conversation",
  latest: "Jump to latest",

  unsend: "Cancel sending",
  placeholderAbout: "Ask about this…",
  attached: "What goes along",
  added: "Added: {labels}",
  remove: "Remove {label}",
  thisPage: "This page: {title}",
  quoted: "“{text}”",
  codeChip: "Code",
  pasted: "Pasted text",
  line: "1 line",
  lines: "{n} lines",
  pastedHint: "Added as one piece. Paste again to put it into the question.",
  cutShort: "Only the first 32,000 characters go with the question.",
  tooMany: "No more than 5 things can go with one question.",
  fileTooLarge: "{name} is larger than 256 KB.",
  fileNotText: "{name} is not a text file.",
  drop: "Drop text files here",
  count: "{n} of {limit} characters",
  left: "{n} characters left",
  editing: "Editing your last question",

  menu: "More",
  past: "Past conversations",
  download: "Download as Markdown",
  tellPage: "Tell which page I am on",
  about: "About",
  back: "Back",
  person: "Ask a person",
  forget: "Delete my data",
  proceed: "Continue",
  cancel: "Cancel",
  code: "code",
  languages: "Languages",
  wrap: "Wrap lines",
  copyCode: "Copy code",
  copy: "Copy",
  copied: "Copied",
  more: "Show {n} more",

  asked: "You asked",
  answered: "Answer",
  sources: "Sources",
  searchedFor: "Searched for “{query}”",
  readPage: "Read {title}",
  next: "Read next",
  source: "Source {number}: {title}",
  open: "Open",
  context: "About",

  rate: "Rate this answer",
  helpful: "Helpful",
  unhelpful: "Not helpful",
  whatWasWrong: "What was wrong?",
  inaccurate: "Inaccurate",
  incomplete: "Incomplete",
  outOfDate: "Out of date",
  offTopic: "Not what I asked",
  comment: "Anything to add? (optional)",
  noMore: "No, thanks",
  sendFeedback: "Send feedback",
  thanks: "Thanks for your feedback.",
  takenBack: "Feedback taken back.",

  queued: "You are offline. It is sent when you are back online.",
  reconnecting: "Connection lost. Reconnecting…",
  sending: "Sending…",
  searching: "Searching the docs…",
  searchingFor: "Searching for “{query}”",
  reading: "Reading {titles}",
  answering: "Answering…",
  complete: "Answer complete.",
  completeOne: "Answer complete, 1 source.",
  completeMany: "Answer complete, {n} sources.",
  stopped: "Stopped",
  cutLength: "The answer was cut at its length limit.",
  cutFilter: "The answer was cut by a content filter.",
  restarted: "This is a new conversation. Earlier questions are not remembered.",

  paused: "AI answers are paused.",
  rungSecondModel: "Answered by the backup model.",
  rungExtractive: "Showing the best passages from the docs.",
  rungNearestPages: "Showing the nearest pages.",
  justNow: "just now",
  indexed: "indexed {ago}",

  failed: "Something went wrong. Your question is kept.",
  empty: "No answer came back.",
  lost: "The connection was lost before the answer was complete.",
  unreachable: "The assistant could not be reached.",
  silent: "The assistant stopped responding.",
  offline: "You are offline.",
  busy: "You've asked a lot just now. Ready in {clock}.",
  later: "{why} Trying again in {clock}.",
  status: "Status {n}",
};

/**
 * A sentence with its names filled in.
 * @param {string} sentence
 * @param {Record<string, string | number>} values
 */
export const fill = (sentence, values) =>
  sentence.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));

/** The language of times and numbers. Without a valid label it is the browser's. */
export function locale() {
  try {
    return Intl.getCanonicalLocales(labels.locale);
  } catch {
    return undefined;
  }
}

const DEFAULTS = Object.freeze({ ...labels });

/**
 * Replaces labels by a site's own sentences. Labels without one get their defaults back.
 * @param {Record<string, string>} custom
 * @returns {string[]} the keys that are unknown
 */
export function setLabels(custom) {
  const isKnown = (/** @type {string} */ key) => Object.hasOwn(DEFAULTS, key);
  Object.assign(labels, DEFAULTS, Object.fromEntries(Object.entries(custom).filter(([key]) => isKnown(key))));
  // The form to write to a person and the pages of the menu have their labels themselves.
  return Object.keys(custom).filter((key) => !isKnown(key) && !/^(person|about|forg|past)/.test(key));
}
