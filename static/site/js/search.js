// Search as you type: ⌘K, Ctrl+K, / or the field in the header open the dialog, where the page has one.
// Without this file, and without a dialog, the field's form leads to /search.

const PAUSE = 80; // milliseconds without a letter before a search
const MOST = 8;

const header = document.querySelector(".site-search");
const dialog = document.querySelector(".search-dialog");
const list = document.querySelector(".results[data-query]");

/** Report the result that was opened; `keepalive` lets it outlive this page. */
function report(query, path, position) {
  const body = JSON.stringify({ query, path, position });
  fetch(`/discovery/v1/search/${dialog.dataset.domain}/click`, { method: "POST", body, keepalive: true }).catch(() => {});
}

/** The places to mark in a text: those that the answer names, else the words that begin like a word of the query. */
function places(text, query, named) {
  if (Array.isArray(named)) return named;
  const words = query.match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
  if (!words.length) return [];
  const begins = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words.join("|")})[\\p{L}\\p{N}_]*`, "giu");
  const length = (end) => [...text.slice(0, end)].length;
  return Array.from(text.matchAll(begins), (found) => [length(found.index), length(found.index + found[0].length)]);
}

/** An element with a text in it, whose places (offsets in code points) are marked. */
function marked(tag, name, text, ranges = []) {
  const element = document.createElement(tag);
  element.className = name;
  const letters = [...text];
  let at = 0;
  for (const [start, end] of ranges) {
    if (!(start >= at && end > start && end <= letters.length)) continue;
    const mark = document.createElement("mark");
    mark.textContent = letters.slice(start, end).join("");
    element.append(letters.slice(at, start).join(""), mark);
    at = end;
  }
  element.append(letters.slice(at).join(""));
  return element;
}

function setUpDialog() {
  const form = dialog.querySelector("form");
  const field = form.querySelector("input");
  const results = form.querySelector(".search-results");
  const empty = form.querySelector(".search-empty");
  const ask = form.querySelector("[data-ask]");
  const said = dialog.querySelector("[role=status]");
  let shown = ""; // the query whose results stand there
  let running = new AbortController();
  let pause = 0;

  const options = () => Array.from(results.children);
  const chosen = () => results.querySelector("[aria-selected=true]");

  function choose(option) {
    chosen()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) field.setAttribute("aria-activedescendant", option.id);
    else field.removeAttribute("aria-activedescendant");
  }

  function show(query, hits, message = "") {
    shown = query;
    results.replaceChildren(...hits.map((hit, place) => option(query, hit, place)));
    results.scrollTop = 0;
    field.setAttribute("aria-expanded", String(hits.length > 0));
    form.querySelector("footer").hidden = !hits.length;
    empty.querySelector("p").textContent = message;
    empty.hidden = !message;
    ask.hidden = !("DocsAssistant" in window);
    said.textContent = message || (hits.length ? `${hits.length} ${hits.length === 1 ? "result" : "results"}` : "");
    choose(results.firstElementChild);
  }

  function option(query, hit, place) {
    const link = document.createElement("a");
    const { title, url, breadcrumb, highlights } = hit.metadata;
    link.href = hit.path + new URL(url, location.href).hash;
    link.id = `search-result-${place}`;
    link.tabIndex = -1;
    link.setAttribute("role", "option");
    link.setAttribute("aria-selected", "false");
    const trail = Array.isArray(breadcrumb) && breadcrumb.length ? breadcrumb : [title];
    link.append(
      marked("span", "result-title", trail.join(" › ")),
      marked("span", "excerpt", hit.content, places(hit.content, query, highlights)),
    );
    link.addEventListener("pointermove", () => link === chosen() || choose(link));
    const opened = () => report(query, hit.path, place + 1);
    link.addEventListener("auxclick", (event) => event.button === 1 && opened());
    link.addEventListener("click", (event) => {
      opened();
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) dialog.close();
    });
    return link;
  }

  async function search(query) {
    running.abort();
    const { signal } = (running = new AbortController());
    if (!query) return show("", []);
    try {
      const { domain, key } = dialog.dataset;
      const answer = await fetch(`/discovery/v1/search/${domain}`, {
        method: "POST",
        headers: { "Authorization": `Bearer ${key}`, "Content-Type": "application/json" },
        body: JSON.stringify({ query, pageSize: MOST }),
        signal,
      });
      const hits = answer.ok ? await answer.json() : [];
      if (signal.aborted) return;
      const wait = answer.headers.get("Retry-After");
      if (answer.status === 429) show(query, [], `Too many searches just now. Try again in ${wait} seconds.`);
      else if (!answer.ok) show(query, [], "Search does not work right now. Try again shortly.");
      else show(query, hits, hits.length ? "" : `No results for “${query}”. Try fewer words, or ask the assistant.`);
    } catch {
      if (!signal.aborted) show(query, [], "Search cannot be reached. Check your connection.");
    }
  }

  function typed() {
    clearTimeout(pause);
    pause = setTimeout(() => search(field.value.trim()), PAUSE);
  }

  field.addEventListener("input", (event) => event.isComposing || typed());
  field.addEventListener("compositionend", typed);
  field.addEventListener("keydown", (event) => {
    const all = options();
    const at = all.indexOf(chosen());
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing) return;
    if (step && all.length) choose(all[(at + step + all.length) % all.length]);
    else if (event.key === "Enter" && at >= 0 && shown === field.value.trim()) {
      const { ctrlKey, metaKey } = event;
      all[at].dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey }));
    } else return;
    event.preventDefault();
  });
  form.addEventListener("mousedown", (event) => event.target === field || event.preventDefault()); // the field keeps the focus
  form.addEventListener("submit", (event) => field.value.trim() || event.preventDefault());
  form.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  ask.addEventListener("click", () => {
    dialog.close();
    window.DocsAssistant.ask(field.value.trim());
  });

  return (text) => {
    if (!dialog.open) dialog.showModal();
    if (text) field.value = text;
    field.focus();
    field.select();
    if (field.value.trim() !== shown) typed();
  };
}

function setUpHeader(open) {
  const field = header.querySelector("input");
  header.querySelector("kbd").hidden = false;
  if (open) {
    field.addEventListener("click", () => open(field.value));
    field.addEventListener("input", () => {
      open(field.value);
      dialog.querySelector("input").setSelectionRange(field.value.length, field.value.length);
      field.value = "";
    });
  }
  document.addEventListener("keydown", (event) => {
    const target = event.composedPath()[0];
    const typing = target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
    const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
    const commandK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (event.defaultPrevented || event.isComposing || typing || !(slash || commandK)) return;
    event.preventDefault();
    if (open) return open("");
    field.focus();
    field.select();
  });
}

const open = dialog ? setUpDialog() : null;
setUpHeader(open);
if (dialog && list) {
  list.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link) report(list.dataset.query, link.pathname, 1 + Array.from(list.children).indexOf(link.closest("li")));
  });
}
