// Renew the visitors of the last five minutes. A page in a hidden tab waits until somebody looks at it.
const PAUSE = 5000; // milliseconds between two requests
const part = document.querySelector("[data-live]");
const number = part?.querySelector("[data-visitors]");
const word = part?.querySelector("[data-word]");
const list = part?.querySelector("ul");

/** @param {{path: string, visitors: number}} page */
const buildRow = ({ path, visitors }) => {
  const row = document.createElement("li");
  const name = document.createElement("span");
  name.className = "path";
  name.textContent = path;
  const count = document.createElement("span");
  count.className = "quiet";
  count.textContent = visitors.toLocaleString("en");
  row.append(name, " ", count);
  return row;
};

const renew = async () => {
  if (!(part instanceof HTMLElement) || !part.dataset.live || !number || !word || !list) return;
  if (!document.hidden) {
    try {
      const response = await fetch(part.dataset.live, { redirect: "error" });
      if (response.status === 404 || response.status === 403) return; // no longer allowed
      if (response.ok) {
        const { visitors, pages } = await response.json();
        number.textContent = visitors.toLocaleString("en");
        word.textContent = visitors === 1 ? "visitor" : "visitors";
        list.replaceChildren(...pages.map(buildRow));
      }
    } catch {
      // offline, logged out, or the service starts again: the next request may succeed
    }
  }
  setTimeout(renew, PAUSE);
};
setTimeout(renew, PAUSE);
