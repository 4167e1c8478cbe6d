/** Waiting for a moment, the network, and the reader's eyes. */

/** Timers stand still while a machine sleeps, so the clock is looked at anew after this, in milliseconds. */
const CHECK_INTERVAL = 30_000;

/**
 * Runs something once a moment has come, the network is there and, if that is wanted, the page is seen.
 * @param {{ at?: number, seen?: boolean }} when `at` in milliseconds of `Date.now`
 * @param {() => void} run
 * @returns {() => void} takes it back
 */
export function runWhenDue({ at = 0, seen = false }, run) {
  const lifetime = new AbortController();
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const check = () => {
    clearTimeout(timer);
    const left = at - Date.now();
    if (left > 0 || !navigator.onLine || (seen && document.hidden)) {
      timer = setTimeout(check, Math.min(Math.max(left, 1_000), CHECK_INTERVAL));
      return;
    }
    lifetime.abort();
    run();
  };
  const options = { signal: lifetime.signal };
  addEventListener("online", check, options);
  document.addEventListener("visibilitychange", check, options);
  timer = setTimeout(check, Math.min(Math.max(at - Date.now(), 0), CHECK_INTERVAL));
  return () => {
    clearTimeout(timer);
    lifetime.abort();
  };
}
