/**
 * The view script: reports the pages of a site that are read to the service, each view once.
 *
 * A view begins when a page is seen: when it has loaded, when the tab that it was opened in or the prerendered page
 * is first shown, when the back/forward cache brings it back, and when its script goes to another page.
 * Whatever goes wrong here shows in the console only: one warning, beside the errors that the browser itself writes
 * for a request that it or the service refuses.
 */

/** A random id. `randomUUID` exists on secure pages only. */
const random = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

/** What the service takes for one page: the path with or without `index`, ending and slash. */
const page = () => location.pathname.replace(/(\/index)?(\.(mdx?|markdown|html?))?\/*$/i, "");

function start() {
  const script = /** @type {HTMLScriptElement | null} */ (document.currentScript); // null in a module
  const { domain, rememberVisitors } = script?.dataset ?? {};
  if (!domain) throw "needs a classic script with data-domain"; // short, without a stack
  const url = new URL(`/discovery/v1/view/${domain}`, script.src);
  // A tag may be on the page twice, or run again when a site swaps its body. Symbols hide from whoever lists globals.
  const mark = Symbol.for(url);
  // Files and sandboxed frames have no origin to be allowed by.
  if (origin === "null" || window[mark]) return;
  window[mark] = true;

  let referrer = document.referrer;
  /** @type {string | undefined} the page of the view that goes on */
  let current;
  let warned; // once is enough
  let failing; // a view was given up: further ones are sent once each, until one has an answer
  let settling; // the timer of a path that may be replaced

  /** The id by which this browser is known again; none without the reader's and the tag's consent, or storage. */
  const visitor = () => {
    if (navigator.globalPrivacyControl || navigator.doNotTrack === "1") return;
    if ((rememberVisitors ?? "false") === "false") return; // React writes out an attribute that is false
    try {
      return (localStorage[`docs-views:${domain}`] ||= random());
    } catch {
      // Storage is full, or closed to this page.
    }
  };

  /** Sends a view until it has an answer, three times at most. Its id makes it count once, however often it comes. */
  const send = async (/** @type {string} */ body) => {
    const waits = failing ? [] : [30_000, 4_000]; // milliseconds, the last one first
    for (;;) {
      let retryAfter;
      try {
        // A string goes as text/plain, which needs no preflight; `keepalive` lets it outlive the page.
        const answer = await fetch(url, { method: "POST", body, credentials: "omit", keepalive: true });
        if (answer.status < 500 && answer.status !== 429) return (failing = false);
        retryAfter = answer.headers.get("Retry-After");
      } catch {
        // No answer: the network, a content blocker, a policy, or an origin that the project does not list.
        if (navigator.onLine && !warned) {
          warned = true;
          console.warn(`Docs views: not counted. Is ${origin} an allowed origin of "${domain}"?`);
        }
      }
      const wait = navigator.onLine ? waits.pop() : 1e9; // for a network, longer than pages live
      if (!wait) return (failing = true);
      // At once when the network is back, or when the page goes, which may be the last chance.
      await new Promise((resolve) => {
        setTimeout(resolve, retryAfter * 1000 || wait);
        addEventListener("online", resolve);
        addEventListener("pagehide", resolve);
      });
    }
  };

  const count = () => {
    if (document.prerendering || page() === current) return; // its reports would be marked as prefetches
    current = page();
    send(
      JSON.stringify({
        id: random(),
        path: location.pathname.slice(0, 2000),
        referrer: referrer.split("/", 3).join("/"), // its origin
        visitor: visitor(),
      }),
    );
    referrer = origin;
  };
  const look = () => {
    if (!document.hidden) count();
  };
  /** Routers go to a path and replace it by another: only one that stays for a moment is a view. */
  const settle = () => {
    clearTimeout(settling);
    settling = setTimeout(look, 100);
  };

  look();
  document.addEventListener("prerenderingchange", count);
  // Also when it is hidden, as it is when the page is left: a path that has not settled by then was seen.
  document.addEventListener("visibilitychange", count);
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    current = null;
    look();
  });
  // An element with the id "navigation" is a property of the window, too, where the API is missing.
  if (window.navigation?.currentEntry) return navigation.addEventListener("currententrychange", settle);
  addEventListener("popstate", settle);
  for (const name of /** @type {const} */ (["pushState", "replaceState"])) {
    history[name] = new Proxy(history[name], {
      apply(...call) {
        settle();
        return Reflect.apply(...call);
      },
    });
  }
}

try {
  start();
} catch (error) {
  console.warn("Docs views:", error);
}
