// Blocks of code that follow one another, each with a name for its tab, become tabs. Without this file all are shown.

import { h } from "../base/dom.js";

/** @param {Element} block */
const isTab = (block) => block instanceof HTMLElement && block.dataset.tab !== undefined;

let number = 0;

/** @param {HTMLElement[]} panels */
function build(panels) {
  const tabs = panels.map((panel) => {
    panel.id ||= `tab-${++number}`;
    panel.setAttribute("role", "tabpanel");
    panel.ariaLabel = panel.dataset.tab ?? "";
    return h("button", { type: "button", role: "tab", "aria-controls": panel.id }, panel.dataset.tab ?? "");
  });
  const choose = (/** @type {number} */ chosen) => {
    for (const [place, tab] of tabs.entries()) {
      tab.ariaSelected = String(place === chosen);
      tab.tabIndex = place === chosen ? 0 : -1;
      panels[place].hidden = place !== chosen;
    }
  };
  const list = h("div", { className: "tabs", role: "tablist" }, ...tabs);
  list.addEventListener("click", ({ target }) => {
    const place = tabs.findIndex((tab) => tab === target);
    if (place >= 0) choose(place);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const place = (tabs.findIndex((tab) => tab.tabIndex === 0) + step + tabs.length) % tabs.length;
    event.preventDefault();
    choose(place);
    tabs[place].focus();
  });
  panels[0].before(list);
  choose(0);
}

for (const first of document.querySelectorAll(".code[data-tab]")) {
  if (first.previousElementSibling && isTab(first.previousElementSibling)) continue;
  const panels = [];
  for (let next = /** @type {Element | null} */ (first); next && isTab(next); next = next.nextElementSibling) {
    if (next instanceof HTMLElement) panels.push(next);
  }
  if (panels.length > 1) build(panels);
}
