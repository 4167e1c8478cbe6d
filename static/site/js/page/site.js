// Theme toggle and the mark in the table of contents; what else a page can do is in the modules.
// Every page reads without this file.

import "./code-blocks.js";
import "./page-menu.js";
import "./selection.js";

const root = document.documentElement;
const systemDark = matchMedia("(prefers-color-scheme: dark)");

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches);

function setUpTheme() {
  const button = document.querySelector("[data-theme-toggle]");
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
  const links = new Map();
  for (const link of document.querySelectorAll("[data-contents] a")) {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (heading) links.set(heading, link);
  }
  if (!links.size) return;
  let current = null;
  const mark = () => {
    const atEnd = innerHeight + scrollY >= document.body.scrollHeight - 4;
    let next = null;
    for (const heading of links.keys()) {
      if (next === null || heading.getBoundingClientRect().top < 120 || atEnd) next = heading;
    }
    if (next === current) return;
    if (current) links.get(current).removeAttribute("aria-current");
    links.get(next).setAttribute("aria-current", "true");
    current = next;
  };
  let due = false;
  addEventListener(
    "scroll",
    () => {
      if (due) return;
      due = true;
      requestAnimationFrame(() => {
        due = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
}

setUpTheme();
setUpContents();
