// A Cloudflare Worker that offers a site to agents as Markdown. With a collecting key AGENTS_TOKEN, it counts agents.
const SERVICE = "@SERVICE@";
const FOLDER = "@FOLDER@";
const FILE = /(\.md|\/llms(-full|-\d+)?\.txt)$/;
const PAGE = /(\/|\/[^/.]+|\.html?)$/;
let views = [];

export default {
  async fetch(request, env, context) {
    context.passThroughOnException?.();
    const { pathname } = new URL(request.url);
    const accept = request.headers.get("accept") ?? "";
    const isPage = PAGE.test(pathname);
    const isRead = /^(GET|HEAD)$/.test(request.method) && `${pathname}/`.startsWith(`${FOLDER}/`);
    const asks = FILE.test(pathname) || (isPage && /text\/markdown/i.test(accept));
    const markdown = isRead && asks && (await ask(request, pathname));
    const site = markdown || (await (env.site ?? fetch)(request));
    const isHtml = isRead && isPage && /^text\/html/.test(site.headers.get("content-type"));
    // The script on the page counts browsers, which navigate.
    const isAgent = markdown || (isHtml && request.headers.get("sec-fetch-mode") !== "navigate");
    if (env.AGENTS_TOKEN && request.method === "GET" && isAgent && (site.ok || site.status === 304))
      record(request, pathname, env, context);
    return isHtml && !markdown ? describe(site, pathname) : site;
  },
};

async function ask({ method, headers: all }, pathname) {
  const headers = new Headers({ "x-docs-edge": "1" });
  for (const name of ["accept", "if-none-match", "user-agent"]) headers.set(name, all.get(name) ?? "");
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), 300);
  const options = { method, headers, redirect: "manual", signal: controller.signal };
  const answer = await fetch(`${SERVICE}/agents/@DOMAIN@${pathname}`, options).catch(() => {});
  clearTimeout(timer);
  const isMarkdown = answer?.status === 200 && /^text\/markdown/.test(answer.headers.get("content-type"));
  if (isMarkdown || answer?.status === 304) return answer;
}

function describe(site, pathname) {
  const page = new Response(site.body, site);
  const path = pathname === FOLDER ? `${FOLDER}/` : pathname;
  const file = path.replace(/\.html?$/, "").replace(/\/$/, "/index");
  const list = `${FOLDER}/llms.txt`;
  const type = 'type="text/markdown"';
  page.headers.append("Link", `<${file}.md>; rel="alternate"; ${type}, <${list}>; rel="describedby"; ${type}`);
  page.headers.append("Vary", "Accept");
  if (!globalThis.HTMLRewriter) return page;
  const note = `<div hidden>For agents: <a href="${list}">all pages as Markdown</a>, or add .md</div>`;
  return new HTMLRewriter().on("body", { element: (body) => body.prepend(note, { html: true }) }).transform(page);
}

function record({ headers, cf }, path, env, context) {
  const header = env.address ?? (cf && "cf-connecting-ip");
  const ip = header && headers.get(header);
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
