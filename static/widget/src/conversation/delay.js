/** Waiting for a moment, the network, and the reader's eyes. */

/** Timers stand still while a machine sleeps, so the clock is looked at anew after this, in milliseconds. */
const GLANCE = 30_000;

/**
 * Runs something once a moment has come, the network is there and, if that is wanted, the page is seen.
 * @param {{ at?: number, seen?: boolean }} when `at` in milliseconds of `Date.now`
 * @param {() => void} run
 * @returns {() => void} takes it back
 */
export function due({ at = 0, seen = false }, run) {
  const over = new AbortController();
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const look = () => {
    clearTimeout(timer);
    const left = at - Date.now();
    if (left > 0 || !navigator.onLine || (seen && document.hidden)) {
      timer = setTimeout(look, Math.min(Math.max(left, 1_000), GLANCE));
      return;
    }
    over.abort();
    run();
  };
  const options = { signal: over.signal };
  addEventListener("online", look, options);
  document.addEventListener("visibilitychange", look, options);
  timer = setTimeout(look, Math.min(Math.max(at - Date.now(), 0), GLANCE));
  return () => {
    clearTimeout(timer);
    over.abort();
  };
}
