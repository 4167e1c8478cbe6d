/** Runs a worker as Cloudflare does, sends it requests, and prints the responses: `{script, token, requests, wait}`, where `wait` is in milliseconds. */

import { Miniflare } from "miniflare";

const { script, token, requests, wait } = JSON.parse(process.argv[2]);
const worker = new Miniflare({
  modules: true,
  script,
  compatibilityDate: "2026-01-01",
  bindings: token ? { AGENTS_TOKEN: token } : {},
});
const responses = [];
for (const { url, ...options } of requests) {
  const response = await worker.dispatchFetch(url, { redirect: "manual", ...options });
  const headers = Object.fromEntries(response.headers);
  responses.push({ status: response.status, headers, text: await response.text() });
}
await new Promise((done) => setTimeout(done, wait));
console.log(JSON.stringify(responses));
await worker.dispose();
