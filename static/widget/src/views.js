/**
 * The view script: reports the pages of a site that are read to the service, each view once.
 *
 * A view begins when a page is seen: when it has loaded, when the tab that it was opened in or the prerendered page
 * is first shown, when the back/forward cache brings it back, and when its script goes to another page.
 * Whatever goes wrong here is a warning in the console and nothing else to the host page.
 */

/** Seconds to wait before each attempt to send a view. */
const WAITS = [0, 2, 8, 32];

/** A random id. `randomUUID` exists on secure pages only. */
const random = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

/** What the service takes for one page: with or without `index`, ending and slash. @param {string} path */
const pageOf = (path) => path.replace(/(\/index)?(\.(mdx?|markdown|html?))?\/*$/i, "");

/**
 * Ends after some seconds, or at once when the network is back or the page goes, which may be the last chance.
 * Without a network no time is too long.
 *
 * @param {number} seconds
 */
const pause = (seconds) =>
  new Promise((resolve) => {
    if (navigator.onLine) setTimeout(resolve, seconds * 1000);
    for (const event of ["online", "pagehide"]) addEventListener(event, resolve, { once: true });
  });

/**
 * Sends a view until it has an answer, a few times at most. Its id makes it count once, however often it arrives.
 *
 * @param {string} url
 * @param {{ id: string, path: string, referrer: string, visitor?: string }} view
 */
async function send(url, view) {
  const body = JSON.stringify(view);
  let retryAfter = 0;
  for (const wait of WAITS) {
    if (wait) await pause(retryAfter || wait);
    try {
      // A string goes as text/plain, which needs no preflight; `keepalive` lets it outlive the page.
      const answer = await fetch(url, { method: "POST", body, credentials: "omit", keepalive: true });
      if (answer.status < 500 && answer.status !== 429) return;
      retryAfter = Number(answer.headers.get("Retry-After"));
    } catch {
      // No answer: the network, a content blocker, or an origin that the project does not list.
    }
  }
}

/**
 * The id by which this browser is known again; none where the reader asked not to be tracked, or there is no storage.
 *
 * @param {string} key
 */
function visitor(key) {
  if (navigator.globalPrivacyControl || navigator.doNotTrack === "1") return;
  try {
    return (localStorage[key] ||= random());
  } catch {
    // Storage is full, or closed to this page.
  }
}

/** Calls `look` whenever the address of the page may have changed without a load. @param {() => void} look */
function watchAddress(look) {
  // An element with the id "navigation" is a property of the window, too, where the API is missing.
  if (window.navigation?.currentEntry) return navigation.addEventListener("currententrychange", look);
  for (const name of /** @type {const} */ (["pushState", "replaceState"])) {
    history[name] = new Proxy(history[name], {
      apply(original, self, given) {
        const result = Reflect.apply(original, self, given);
        look();
        return result;
      },
    });
  }
  addEventListener("popstate", look);
}

/** @param {HTMLScriptElement} script */
function start({ src, dataset: { domain, rememberVisitors } }) {
  if (!domain) throw new Error("the tag needs data-domain");
  const url = new URL(`/discovery/v1/view/${domain}`, src).href;
  // A tag may be on the page twice, or run again when a site swaps its body. Symbols hide from whoever lists globals.
  const mark = Symbol.for(url);
  // Files and sandboxed frames have no origin to be allowed by.
  if (origin === "null" || mark in window) return;
  Object.assign(window, { [mark]: true });

  const remembers = (rememberVisitors ?? "false") !== "false"; // React writes out an attribute that is false
  let referrer = document.referrer;
  /** @type {string | null} the page of the view that goes on */
  let current = null;

  const look = () => {
    const path = location.pathname;
    if (document.visibilityState !== "visible" || document.prerendering || pageOf(path) === current) return;
    current = pageOf(path);
    send(url, {
      id: random(),
      path: path.slice(0, 2000),
      referrer: referrer.split("/", 3).join("/"), // its origin
      visitor: remembers ? visitor(`docs-views:${domain}`) : undefined,
    });
    referrer = location.origin;
  };

  look();
  for (const event of ["visibilitychange", "prerenderingchange"]) document.addEventListener(event, look);
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) current = null;
    look();
  });
  watchAddress(look);
}

try {
  start(/** @type {HTMLScriptElement} */ (document.currentScript));
} catch (error) {
  console.warn("Docs views:", error);
}
