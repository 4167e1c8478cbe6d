/** Waits for a time, for the network, and for a visible page. */

/** Timers pause while a machine sleeps, so the clock is checked at this interval, in milliseconds. */
const CHECK_INTERVAL = 30_000;

/**
 * Runs a function when its time has come, the network is there and, with `visible`, the page is visible.
 * @param {{ at?: number, visible?: boolean }} when `at` in milliseconds of `Date.now`
 * @param {() => void} run
 * @returns {() => void} cancels it
 */
export function runWhenDue({ at = 0, visible = false }, run) {
  const lifetime = new AbortController();
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const check = () => {
    clearTimeout(timer);
    const remaining = at - Date.now();
    if (remaining > 0 || !navigator.onLine || (visible && document.hidden)) {
      timer = setTimeout(check, Math.min(Math.max(remaining, 1_000), CHECK_INTERVAL));
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
