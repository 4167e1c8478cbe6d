// While a source waits or is being read, its page asks for the state every two seconds.

/** @typedef {{ state: string, html: string, isActive: boolean }} State */

const INTERVAL = 2000; // milliseconds

/** The `details` of an element by the text of their summaries. @param {Element} body */
const detailsBySummary = (body) =>
  Array.from(body.querySelectorAll("details"), (details) => ({
    details,
    summary: details.querySelector(":scope > summary")?.textContent,
  }));

/** @param {HTMLElement} section holds the status and the report @param {string} address of the state */
function watch(section, address) {
  let shown = "";

  async function update() {
    /** @type {State} */
    let state;
    try {
      const response = await fetch(address);
      if (response.status === 403 || response.status === 404) return; // logged out, or deleted
      state = await response.json();
    } catch {
      setTimeout(update, INTERVAL); // the service is away for a moment
      return;
    }
    const [status, body] = section.children;
    if (status.textContent !== state.state) status.textContent = state.state;
    if (state.html !== shown) {
      shown = state.html;
      const isOpen = new Set(
        detailsBySummary(body)
          .filter(({ details }) => details.open)
          .map(({ summary }) => summary),
      );
      body.innerHTML = state.html;
      for (const { details, summary } of detailsBySummary(body)) details.open = isOpen.has(summary);
    }
    if (state.isActive) setTimeout(update, INTERVAL);
  }

  setTimeout(update, INTERVAL);
}

const section = document.querySelector(".source[data-state]");
if (section instanceof HTMLElement && section.dataset.active !== undefined) watch(section, section.dataset.state ?? "");
