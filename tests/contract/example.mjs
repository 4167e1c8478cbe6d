/**
 * Components of the documentation, each on a page of its own, with the client libraries of a release.
 *
 * It reads `{url, domain, key, examples: {release: code}}` as JSON from stdin. On each page it asks two questions as
 * a reader would, and it prints by release what the page shows, and what was sent.
 */

import { text } from "node:stream/consumers";
import { Window } from "happy-dom";

const { url, domain, key, examples } = JSON.parse(await text(process.stdin));
const PATIENCE = 15_000;

const window = new Window({ url: "http://localhost/install" });
Object.assign(globalThis, { window, document: window.document });
globalThis.navigator ??= window.navigator; // newer releases of Node have one
const React = await import("react");
const { createRoot } = await import("react-dom/client"); // looks for a DOM when it is loaded
const jsx = await import("react/jsx-runtime");
const { default: ts } = await import("typescript");
const network = globalThis.fetch;

/** The component of an example, with what it says of host, key and domain filled in. */
async function componentOf(code, release) {
  const filled = code.replace("http://127.0.0.1:8000", url).replace("svc_dsc_…", key).replace("/demo/", `/${domain}/`);
  const { outputText } = ts.transpileModule(filled, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, jsx: ts.JsxEmit.ReactJSX, target: ts.ScriptTarget.ES2022 },
  });
  const modules = {
    react: React,
    "react/jsx-runtime": jsx,
    ai: await import(release),
    "@ai-sdk/react": await import(`${release}-react`),
  };
  const exports = {};
  new Function("require", "exports", outputText)((name) => modules[name], exports);
  return exports.Assistant;
}

async function until(isSo) {
  const end = Date.now() + PATIENCE;
  while (!isSo() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function talk(code, release) {
  const sent = [];
  let received = 0;
  globalThis.fetch = async (address, init) => {
    sent.push(JSON.parse(init.body));
    const response = await network(address, init);
    response.clone().text().then(() => (received += 1));
    return response;
  };
  const page = document.body.appendChild(document.createElement("main"));
  createRoot(page).render(React.createElement(await componentOf(code, release)));
  await until(() => page.querySelector("input"));
  const input = page.querySelector("input");
  for (const question of ["How do I install acme with pip?", "And from source?"]) {
    Object.getOwnPropertyDescriptor(window.HTMLInputElement.prototype, "value").set.call(input, question);
    input.dispatchEvent(new window.Event("input", { bubbles: true }));
    page.querySelector("form").requestSubmit();
    const answers = received + 1;
    const isAtRest = () => [...page.querySelectorAll("button")].some((button) => button.textContent === "Ask");
    await until(() => received === answers && isAtRest() && page.querySelectorAll("article").length === 2 * answers);
  }
  const articles = [...page.querySelectorAll("article")].map((article) => ({
    text: article.textContent,
    links: [...article.querySelectorAll("a")].map((link) => link.href),
  }));
  return { articles, sent, alert: page.querySelector("[role=alert]")?.textContent ?? null };
}

const seen = {};
for (const [release, code] of Object.entries(examples)) seen[release] = await talk(code, release);
console.log(JSON.stringify(seen));
process.exit();
