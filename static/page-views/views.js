/**
 * The view script: reports page views of a site to the service, each view once.
 *
 * A view begins when a reader sees a page: after it has loaded, when its tab or the prerendered page is first shown,
 * when the back/forward cache restores it, and when a script of the site goes to another page.
 * Errors show in the console only. There is one warning, beside the browser's own errors for refused requests.
 */

/**
 * What type libraries lack, as it is not in every browser.
 * @typedef {{ globalPrivacyControl?: boolean }} PrivacyControl
 * @typedef {{ prerendering?: boolean }} Prerendering
 */

/** A random id. `randomUUID` exists on secure pages only. */
const randomId = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

/** The path as the service counts it: without `index`, file ending and slash at the end. @param {string} path */
const counted = (path) => path.replace(/(\/index)?(\.(mdx?|markdown|html?))?\/*$/i, "");

/** Whether a tag has an attribute. React writes out one that is false. @param {string} [value] */
const isOn = (value) => (value ?? "false") !== "false";

function start() {
  const script = /** @type {HTMLScriptElement | null} */ (document.currentScript); // null in a module
  const { domain, hash, rememberVisitors, service } = script?.dataset ?? {};
  if (!script || !domain) throw "needs a classic script with data-domain"; // short, without a stack
  const url = new URL(`discovery/v1/view/${domain}`, service || script.src);
  // A tag may be on the page twice, or run again when a site swaps its body. A symbol is in no list of globals.
  const mark = Symbol.for(/** @type {string} */ (/** @type {unknown} */ (url)));
  const globals = /** @type {Record<symbol, boolean>} */ (/** @type {unknown} */ (window));
  // Files and sandboxed frames have no origin that a project could allow.
  if (origin === "null" || globals[mark]) return;
  globals[mark] = true;

  let referrer = document.referrer;
  /** @type {string | null | undefined} the page of the current view */
  let current;
  /** @type {boolean | undefined} one warning is enough */
  let hasWarned;
  /** @type {boolean | undefined} a view was given up: each further one is sent once, until the service responds */
  let isFailing;
  /** @type {ReturnType<typeof setTimeout> | undefined} for a path that may be replaced */
  let timer;

  /** This browser's id, if the tag asks for one, the reader does not object, and there is storage. */
  const visitor = () => {
    if (/** @type {PrivacyControl} */ (navigator).globalPrivacyControl || navigator.doNotTrack === "1") return;
    if (!isOn(rememberVisitors)) return;
    try {
      return (localStorage[`docs-views:${domain}`] ||= randomId());
    } catch {
      // Storage is full, or closed to this page.
    }
  };

  /** Sends a view until the service responds, three times at most. By its id the service counts it once. */
  const send = async (/** @type {string} */ body) => {
    const waits = isFailing ? [] : [30_000, 4_000]; // milliseconds, the last one first
    for (;;) {
      /** @type {string | null | undefined} */
      let retryAfter;
      try {
        // A string goes as text/plain, which needs no preflight; `keepalive` lets it outlive the page.
        const response = await fetch(url, { method: "POST", body, credentials: "omit", keepalive: true });
        if (response.status < 500 && response.status !== 429) return (isFailing = false);
        retryAfter = response.headers.get("Retry-After");
      } catch {
        // No response: the network, a content blocker, a policy, or an origin that the project does not list.
        if (navigator.onLine && !hasWarned) {
          hasWarned = true;
          console.warn(`Docs views: not counted. Is ${origin} an allowed origin of "${domain}"?`);
        }
      }
      const wait = navigator.onLine ? waits.pop() : 1e9; // for a network, longer than pages live
      if (!wait) return (isFailing = true);
      // At once when the network is back, or when the page goes, which may be the last chance.
      await new Promise((resolve) => {
        setTimeout(resolve, Number(retryAfter) * 1000 || wait);
        addEventListener("online", resolve);
        addEventListener("pagehide", resolve);
      });
    }
  };

  const count = () => {
    // With `data-hash` the site's router keeps the path in the fragment: `#/guide`, `#!/guide`.
    const inner = isOn(hash) && /^#!?(\/[^?#]*)/.exec(location.hash);
    const path = inner ? counted(location.pathname) + inner[1] : location.pathname;
    if (/** @type {Prerendering} */ (document).prerendering || counted(path) === current) return; // its reports would be marked as prefetches
    current = counted(path);
    send(
      JSON.stringify({
        id: randomId(),
        // Of the query, only what names a campaign leaves the page.
        path: (path + location.search.replace(/[?&](?!utm_)[^&]*/g, "").replace(/^&/, "?")).slice(0, 2000),
        referrer: referrer.split("/", 3).join("/"), // its origin
        visitor: visitor(),
      }),
    );
    referrer = origin;
  };
  const countIfVisible = () => {
    if (!document.hidden) count();
  };
  /** Routers go to a path and replace it by another: only one that stays for a moment is a view. */
  const countSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(countIfVisible, 100);
  };

  countIfVisible();
  document.addEventListener("prerenderingchange", count);
  // Also when it is hidden, as it is when the page is left: a path that has not settled by then was seen.
  document.addEventListener("visibilitychange", count);
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    current = null;
    countIfVisible();
  });
  // An element with the id "navigation" is a property of the window, too, where the API is missing.
  if (window.navigation?.currentEntry) return navigation.addEventListener("currententrychange", countSoon);
  addEventListener("popstate", countSoon);
  for (const name of /** @type {const} */ (["pushState", "replaceState"])) {
    history[name] = new Proxy(history[name], {
      apply(...call) {
        countSoon();
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
