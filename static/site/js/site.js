// Theme toggle, copy buttons and the mark in the table of contents.
// Every page reads without this file.

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

function setUpCopying() {
  if (!navigator.clipboard) return;
  const said = document.createElement("p");
  said.className = "visually-hidden";
  said.setAttribute("role", "status");
  document.body.append(said);
  for (const block of document.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.querySelector("code").textContent.trimEnd());
        button.textContent = said.textContent = "Copied";
      } catch {
        button.textContent = said.textContent = "Not copied";
      }
      setTimeout(() => {
        button.textContent = "Copy";
        said.textContent = "";
      }, 1500);
    });
    block.querySelector(".code-bar").append(button);
  }
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
setUpCopying();
setUpContents();
