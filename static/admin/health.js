// Updates the facts of the page over a socket. Without it, the link refreshes the page.
const LOGGED_OUT = 4001;
const FIRST_WAIT = 5_000; // milliseconds until the next attempt; each further one waits twice as long
const LONGEST_WAIT = 60_000;

const box = /** @type {HTMLElement} */ (document.querySelector("[data-live]"));
const status = /** @type {HTMLElement} */ (document.querySelector("[data-live-status]"));
let wait = FIRST_WAIT;
let timer = 0;
/** @type {WebSocket | null} */
let socket = null;

function connect() {
  clearTimeout(timer);
  if (socket || document.hidden) return;
  const address = new URL(box.dataset.live ?? "", location.href);
  address.protocol = address.protocol.replace("http", "ws");
  const opened = new WebSocket(address);
  socket = opened;
  opened.addEventListener("message", ({ data }) => {
    wait = FIRST_WAIT;
    status.textContent = "Updates itself";
    const page = new DOMParser().parseFromString(data, "text/html");
    box.replaceChildren(...page.body.childNodes);
  });
  opened.addEventListener("close", ({ code }) => {
    if (socket === opened) socket = null;
    if (code === LOGGED_OUT) {
      status.textContent = "The updates have ended, since you are logged out or not a member any more.";
      return;
    }
    if (document.hidden) return;
    status.textContent = "Not connected";
    timer = setTimeout(connect, wait);
    wait = Math.min(2 * wait, LONGEST_WAIT);
  });
}

// A page that nobody sees needs no updates.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) socket?.close();
  else connect();
});
connect();
