// Updates the facts of the page. Without JavaScript, the link refreshes the page.
const PAUSE = 2_000; // milliseconds between two requests
const LONGEST_PAUSE = 60_000; // after failures, each of which doubles it

const box = /** @type {HTMLElement} */ (document.querySelector("[data-live]"));
const status = /** @type {HTMLElement} */ (document.querySelector("[data-live-status]"));
let pause = PAUSE;

/** Load the page again and show its facts. Returns whether further ones may follow. */
async function renew() {
  const response = await fetch(location.href, { redirect: "manual" });
  if (response.type === "opaqueredirect" || response.status === 403 || response.status === 404) {
    status.textContent = "The updates have ended, since you are logged out or not a member any more.";
    return false;
  }
  if (!response.ok) throw new Error(response.statusText);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const facts = page.querySelector("[data-live]");
  if (facts && facts.innerHTML !== box.innerHTML) box.replaceChildren(...facts.childNodes);
  status.textContent = "Updates itself";
  return true;
}

async function run() {
  let goesOn = true;
  try {
    if (!document.hidden) goesOn = await renew(); // a page that nobody sees needs no updates
    pause = PAUSE;
  } catch {
    status.textContent = "Not connected";
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  }
  if (goesOn) setTimeout(run, pause);
}
run();
