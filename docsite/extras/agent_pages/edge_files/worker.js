// Offers @SITE@ to agents as Markdown, from @SERVICE@.
// Cloudflare Worker on the site's route. With a collecting key as the secret AGENTS_TOKEN it also counts agents.
// If the service is away, slow (300 ms) or sends no Markdown, the site answers.
const SERVICE = "@SERVICE@";
const FOLDER = "@FOLDER@";
const FILE = /(\.md|\/llms(-full|-\d+)?\.txt)$/;
const PAGE = /(\/|\/[^/.]+|\.html?)$/;
const ADDRESS = ["cf-connecting-ip", "x-nf-client-connection-ip", "x-real-ip"];
let views = [];

export default {
  async fetch(request, env, context) {
    context.passThroughOnException?.();
    const { pathname } = new URL(request.url);
    const accept = request.headers.get("accept") ?? "";
    const isPage = PAGE.test(pathname);
    const asks = FILE.test(pathname) || (isPage && /text\/markdown/i.test(accept));
    const isRead = /^(GET|HEAD)$/.test(request.method) && `${pathname}/`.startsWith(`${FOLDER}/`);
    const markdown = isRead && asks && (await ask(request, pathname, accept));
    const site = markdown || (await (env.site ? env.site(request) : fetch(request)));
    const isHtml = isRead && isPage && /^text\/html/.test(site.headers.get("content-type"));
    // The script on the page counts browsers, which navigate.
    const isAgent = markdown || (isHtml && request.headers.get("sec-fetch-mode") !== "navigate");
    if (env.AGENTS_TOKEN && request.method === "GET" && isAgent && (site.ok || site.status === 304))
      record(request, pathname, env, context);
    return isHtml && !markdown ? describe(site, pathname) : site;
  },
};

async function ask(request, pathname, accept) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), 300);
  const headers = new Headers({ accept, "x-docs-edge": "1" });
  const known = request.headers.get("if-none-match");
  if (known) headers.set("if-none-match", known);
  const options = { method: request.method, headers, redirect: "manual", signal: controller.signal };
  try {
    const answer = await fetch(`${SERVICE}/agents/@DOMAIN@${pathname}`, options);
    const isMarkdown = /^text\/markdown/.test(answer.headers.get("content-type"));
    if (answer.status === 304 || (answer.status === 200 && isMarkdown)) return answer;
  } catch {
    // the site answers
  } finally {
    clearTimeout(timer);
  }
}

function describe(site, pathname) {
  const page = new Response(site.body, site);
  const file = pathname.replace(/\/(index\.html?)?$/, "/index").replace(/\.html?$/, "");
  page.headers.append("Link", `<${file}.md>; rel="alternate"; type="text/markdown"`);
  page.headers.append("Link", `<${FOLDER}/llms.txt>; rel="describedby"; type="text/markdown"`);
  page.headers.append("Vary", "Accept");
  if (typeof HTMLRewriter === "undefined") return page;
  const note = `<div hidden>For agents: <a href="${FOLDER}/llms.txt">all pages as Markdown</a>, also at addresses with .md</div>`;
  return new HTMLRewriter().on("body", { element: (body) => body.prepend(note, { html: true }) }).transform(page);
}

function record({ headers }, path, env, context) {
  const ip = ADDRESS.map((name) => headers.get(name)).find(Boolean);
  if (!ip) return;
  const view = { id: crypto.randomUUID(), timestamp: new Date(), ip, path: path.slice(0, 2000) };
  for (const name of ["userAgent", "accept", "signature", "signatureInput", "signatureAgent"])
    view[name] = (headers.get(name.replace(/[A-Z]/, "-$&")) ?? "").slice(0, 2000);
  views.push(view);
  if (views.length === 1) context.waitUntil(new Promise((done) => setTimeout(done, 2000)).then(() => send(env)));
  if (views.length === 100) context.waitUntil(send(env));
}

async function send(env) {
  const body = JSON.stringify({ views: views.splice(0) });
  const headers = { authorization: `Bearer ${env.AGENTS_TOKEN}`, "content-type": "application/json" };
  if (body.length > 12) await fetch(`${SERVICE}/v1/collect/@PROJECT@/views`, { method: "POST", headers, body }).catch(() => {});
}
