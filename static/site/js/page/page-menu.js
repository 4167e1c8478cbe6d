// Menus that are `details` elements: they close again, and entries that need a script are shown.

import { announce } from "../base/announce.js";
import { copy } from "../base/clipboard.js";
import { closest, find, holdsTarget } from "../base/dom.js";

const menus = Array.from(document.querySelectorAll("details.dropdown")).filter(
  (menu) => menu instanceof HTMLDetailsElement,
);

for (const menu of menus) {
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    find(menu, "summary", HTMLElement).focus();
  });
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) menu.open = false;
  });
}
document.addEventListener("click", (event) => {
  for (const menu of menus) if (!holdsTarget(menu, event) || closest(event, "a", HTMLAnchorElement)) menu.open = false;
});

/** @param {string} path */
async function fetchPage(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(response.statusText);
  return response.text();
}

for (const button of document.querySelectorAll("[data-copy-page], [data-copy]")) {
  if (!(button instanceof HTMLButtonElement) || !navigator.clipboard) continue;
  const item = button.closest("li");
  if (item) item.hidden = false;
  const { copyPage } = button.dataset;
  button.addEventListener("click", () =>
    copy(button, copyPage === undefined ? (button.dataset.copy ?? "") : fetchPage(copyPage), announce),
  );
}
