// The theme toggle, and the mark in the table of contents. The other modules of this folder are loaded from here.
// Every page can be read without this file.

import { find } from "../base/dom.js";
import "./code-blocks.js";
import "./feedback-form.js";
import "./page-menu.js";
import "./quotes.js";
import "./selection.js";
import "./tabs.js";

const root = document.documentElement;
const systemDark = matchMedia("(prefers-color-scheme: dark)");

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches);

function setUpTheme() {
  const button = find(document, "[data-theme-toggle]", HTMLButtonElement);
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    const follows = (theme === "dark") === systemDark.matches;
    if (follows) delete root.dataset.theme;
    else root.dataset.theme = theme;
    try {
      if (follows) localStorage.removeItem("theme");
      else localStorage.setItem("theme", theme);
    } catch {
      // Storage is switched off: the choice lasts for this page.
    }
    show();
  });
  systemDark.addEventListener("change", show);
  show();
  button.hidden = false;
}

function setUpContents() {
  /** @type {Map<HTMLElement, HTMLAnchorElement>} by their headings */
  const links = new Map();
  for (const link of document.querySelectorAll("[data-contents] a")) {
    if (!(link instanceof HTMLAnchorElement)) continue;
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (heading) links.set(heading, link);
  }
  if (!links.size) return;
  /** @type {HTMLAnchorElement | null} */
  let current = null;
  const mark = () => {
    const atEnd = innerHeight + scrollY >= document.body.scrollHeight - 4;
    /** @type {HTMLAnchorElement | null} */
    let next = null;
    for (const [heading, link] of links) {
      if (next === null || heading.getBoundingClientRect().top < 120 || atEnd) next = link;
    }
    if (next === current) return;
    current?.removeAttribute("aria-current");
    next?.setAttribute("aria-current", "true");
    current = next;
  };
  let isScheduled = false;
  addEventListener(
    "scroll",
    () => {
      if (isScheduled) return;
      isScheduled = true;
      requestAnimationFrame(() => {
        isScheduled = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
}

setUpTheme();
setUpContents();
