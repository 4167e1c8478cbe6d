/** Every sentence a reader sees, in one place. */

export const words = {
  name: "Ask the docs",
  launcher: "Ask",
  greeting: "What are you looking for?",
  promise: "Ask in your own words. Answers come from these docs, with links to the pages they use.",
  starters: "Questions to start with",
  caution: "Answers come from these docs and can still be wrong.",
  placeholder: "Ask a question…",
  question: "Your question",
  transcript: "Conversation",

  send: "Send",
  stop: "Stop",
  close: "Close",
  newThread: "New conversation",
  latest: "Jump to latest",
  retry: "Try again",
  code: "code",
  copyCode: "Copy code",
  copy: "Copy",
  copied: "Copied",
  more: (/** @type {number} */ n) => `Show ${n} more`,

  asked: "You asked",
  answered: "Answer",
  sources: "Sources",
  next: "Read next",
  source: (/** @type {string} */ number, /** @type {string} */ title) => `Source ${number}: ${title}`,

  sending: "Sending…",
  searching: "Searching the docs…",
  reading: (/** @type {string} */ titles) => `Reading ${titles}`,
  answering: "Answering…",
  complete: (/** @type {number} */ n) =>
    n === 0 ? "Answer complete." : n === 1 ? "Answer complete, 1 source." : `Answer complete, ${n} sources.`,
  stopped: "Stopped",
  restarted: "This is a new conversation. Earlier questions are not remembered.",

  rungs: /** @type {Record<string, string>} */ ({
    second_model: "Answered by the backup model",
    extractive: "Showing the best passages from the docs",
    nearest_pages: "Showing the nearest pages",
  }),
  justNow: "just now",
  indexed: (/** @type {string} */ ago) => `indexed ${ago}`,

  failed: "Something went wrong. Your question is kept.",
  empty: "No answer came back.",
  lost: "The connection was lost before the answer was complete.",
  unreachable: "The assistant could not be reached.",
  silent: "The assistant stopped responding.",
  offline: "You are offline.",
  busy: (/** @type {string} */ clock) => `A lot was asked just now. Ready in ${clock}.`,
  ready: "Ready again.",
  status: (/** @type {number} */ n) => `Status ${n}`,
};
