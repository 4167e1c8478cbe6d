/** The labels that show before the panel has loaded. `labels.js` has them too. */
export const launcherLabels = {
  name: "Ask the docs",
  launcher: "Ask",
  placeholder: "Ask a question…",
  question: "Your question",
  close: "Close",
  retry: "Try again",
  loading: "Loading…",
  notLoaded: "This could not be loaded.",
};
