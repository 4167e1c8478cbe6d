// Menus that are `details`: they close again, and what needs a script in them is shown.

import { announce } from "../base/announce.js";
import { copy } from "../base/dom.js";

const menus = Array.from(document.querySelectorAll("details.dropdown"));

for (const menu of menus) {
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  menu.addEventListener(
    "focusout",
    ({ relatedTarget }) => relatedTarget && !menu.contains(relatedTarget) && (menu.open = false),
  );
}
document.addEventListener("click", ({ target }) => {
  for (const menu of menus) if (!menu.contains(target) || target.closest("a")) menu.open = false;
});

const button = document.querySelector("[data-copy-page]");
if (button && navigator.clipboard) {
  button.closest("li").hidden = false;
  const page = async () => {
    const answer = await fetch(button.dataset.copyPage);
    if (!answer.ok) throw new Error(answer.statusText);
    return answer.text();
  };
  button.addEventListener("click", () => copy(button, page(), announce));
}
