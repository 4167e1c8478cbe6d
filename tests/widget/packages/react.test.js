/** The component for React: what it tells the widget when its options change. `make release-check` uses the real React. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";

/** As much of React as one component needs. Effects run at once. */
const REACT = `data:text/javascript,${encodeURIComponent(`
  const slots = [];
  let at = 0;
  export const createElement = () => null;
  export const useRef = (current) => (slots[at] ??= { current }, slots[at++]);
  export function useEffect(run, values) {
    const before = slots[at];
    if (values.some((value, i) => value !== before?.values[i])) {
      before?.end?.();
      slots[at] = { values, end: run() };
    }
    at++;
  }
  export function render(component, options) {
    at = 0;
    component(options);
  }
`)}`;

const code = await readFile(new URL("../../../static/packages/react/index.js", import.meta.url), "utf8");
const { render } = await import(REACT);
const { DocsAssistant } = await import(`data:text/javascript,${encodeURIComponent(code.replace("react", REACT))}`);

test("an option that goes away starts the widget again, another value does not", async (t) => {
  const calls = [];
  globalThis.document = { createElement: () => ({ dataset: {} }), head: { append: (tag) => tag.onload() } };
  globalThis.window = {
    DocsAssistant: {
      init: ({ domain, key, theme, accent }) => calls.push(["init", domain, key, theme, accent]),
      update: (options) => calls.push(["update", options]),
      destroy: () => calls.push(["destroy"]),
    },
  };
  t.after(() => {
    delete globalThis.document;
    delete globalThis.window;
  });
  const acme = { service: "https://docs.acme.example", domain: "acme", assistantKey: "k" };
  const show = (options) => render(DocsAssistant, { ...acme, ...options });
  show({ theme: "dark" });
  await new Promise(setImmediate);
  assert.deepEqual(calls.splice(0), [["init", "acme", "k", "dark", undefined]]);
  show({ theme: "dark", accent: "#0a6b5d" });
  assert.deepEqual(calls.splice(0), [["update", { theme: "dark", accent: "#0a6b5d" }]]);
  show({ theme: undefined, accent: "#0a6b5d" });
  assert.deepEqual(calls.splice(0), [["destroy"], ["init", "acme", "k", undefined, "#0a6b5d"]]);
  show({ accent: "#0a6b5d" });
  assert.deepEqual(calls.splice(0), []);
  show({ theme: "light", accent: "#0a6b5d" });
  assert.deepEqual(calls.splice(0), [["update", { theme: "light", accent: "#0a6b5d" }]]);
});
