// The documentation site around its search dialog.

import { base } from "../base/address.js";
import { askInDialog, isReady } from "../base/assistant.js";
import { feedbackSender } from "../base/feedback.js";
import { labels } from "../base/labels.js";
import { pageLanguage } from "../base/sentences.js";
import { SearchDialog } from "./dialog.js";
import { words } from "./site.js";

/** @param {HTMLDialogElement} dialog */
export function createDialog(dialog) {
  Object.assign(words, labels);
  const { domain = "", key = "" } = dialog.dataset;
  return new SearchDialog(dialog, {
    service: base,
    domain,
    key,
    preferred: { language: pageLanguage() },
    linkTo: ({ path }, url) => base + path + new URL(url, location.href).hash,
    askAddress: (query) =>
      `${base}/ask?${new URLSearchParams({ q: query, path: location.pathname, language: document.documentElement.lang })}`,
    ask(query) {
      if (isReady) askInDialog(query);
      return isReady;
    },
    follow: () => false,
    pages: () =>
      Array.from(document.querySelectorAll(".sidebar a")).flatMap((link) =>
        // The mark of another language follows the title.
        link instanceof HTMLAnchorElement
          ? [{ href: link.href, title: link.firstChild?.textContent?.trim() ?? "" }]
          : [],
      ),
    reportMissing: (query) => feedbackSender({ source: "contextual", reason: "Missing", comment: query })({}),
  });
}
