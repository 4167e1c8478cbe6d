// While a site is read, its page asks how far that is, and is loaded anew in the end. Then its questions can be asked.

const INTERVAL = 500; // milliseconds

/** @param {HTMLElement} section holds the bar and the status */
function watch(section) {
  const [bar, status] = section.children;

  async function update() {
    try {
      const response = await fetch(section.dataset.state ?? "");
      if ([403, 404].includes(response.status)) return location.reload(); // it was deleted
      const state = await response.json();
      if (!state.isActive) return location.reload();
      if (status.textContent !== state.line) status.textContent = state.line;
      const numbers = /^(\d+) of (\d+) pages/.exec(state.line);
      if (numbers && bar instanceof HTMLProgressElement) {
        bar.max = Math.min(Number(numbers[2]), 200);
        bar.value = Number(numbers[1]);
      }
    } catch {
      // The service is away for a moment.
    }
    setTimeout(update, INTERVAL);
  }

  setTimeout(update, INTERVAL);
}

const section = document.querySelector(".progress[data-state]");
if (section instanceof HTMLElement) watch(section);

for (const button of document.querySelectorAll("[data-ask]")) {
  if (!(button instanceof HTMLButtonElement)) continue;
  button.addEventListener("click", () => {
    const question = button.dataset.ask ?? "";
    if (question) window.DocsAssistant?.ask(question);
    else window.DocsAssistant?.open();
  });
}
