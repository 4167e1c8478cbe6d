// The conversations of the widget gallery, one for each state that a reader may meet.

/** @typedef {import("../../../widget/src/panel/panel.js").Panel} Panel */
/** @typedef {import("../../../widget/src/conversation/thread.js").Answer} Answer */
/** @typedef {import("../../../widget/src/conversation/thread.js").Context} Context */
/** A thread as a store has it. The panel fills in the fields that an answer lacks. @typedef {{ chatId: string, threadId: string, turns: object[] }} StoredThread */
/**
 * @typedef {object} Story
 * @property {string} name
 * @property {string} title
 * @property {string} about
 * @property {StoredThread} [thread]
 * @property {{ chatId: string, title: string, at: number }[]} [past]
 * @property {Partial<import("../../../widget/src/base/options.js").Options>} [options]
 * @property {(panel: Panel) => unknown} [act] what the reader does
 */

const HOUR = 60 * 60 * 1000;

/** Shows a conversation from its beginning. @param {Panel} panel */
const scrollToTop = (panel) => {
  panel.transcript.log.scrollTop = 0;
};

/** Presses the thumb that asks what was wrong, unless it is pressed. @param {Panel} panel */
const rate = (panel) => {
  const thumb = panel.dialog.querySelector(".thumbs .down");
  if (thumb instanceof HTMLElement && thumb.ariaPressed !== "true") thumb.click();
};

/** Opens a page of the menu. @param {string} label */
const openPage = (label) => async (/** @type {Panel} */ panel) => {
  await panel.menu.open();
  const item = [...(panel.menu.list?.element.children ?? [])].find(({ textContent }) => textContent === label);
  if (item instanceof HTMLElement) item.click();
};

/** @param {string} site address of this documentation @returns {Story[]} */
export function buildStories(site) {
  const page = (/** @type {string} */ path) => `${site}${path}`;
  const install = page("/quickstart#run-the-demo:~:text=make%20demo");
  const keys = page("/security#is-the-assistant-key-secret");

  const passages = [
    {
      url: page("/quickstart#run-the-demo"),
      title: "Quickstart",
      breadcrumb: ["Quickstart", "Two commands"],
      text: "Clone the repository and run make demo. It sets up a virtual environment, indexes these pages and serves them.",
    },
    {
      url: page("/security#is-the-assistant-key-secret"),
      title: "Security",
      breadcrumb: ["Security", "Is the assistant key secret?"],
      text: "An assistant key is made to be public. It opens questions and searches of one project, and nothing else.",
    },
  ];
  const sources = [
    { url: install, title: "Quickstart" },
    { url: keys, title: "Security" },
  ];
  /** @param {Partial<Answer>} fields */
  const answer = (fields) => ({
    id: "a",
    role: "assistant",
    messageId: "msg_gallery",
    phase: "done",
    text: "",
    passages,
    site,
    ...fields,
  });
  /** @param {string} text @param {Partial<Answer>} fields @param {Context[]} [context] @returns {StoredThread} */
  const thread = (text, fields, context = []) => ({
    chatId: "gallery",
    threadId: "thr_gallery",
    turns: [{ id: "q", role: "user", text, context }, answer(fields)],
  });

  const body =
    `Clone the repository and start the demo [1](${install}):\n\n` +
    "```bash\ngit clone https://example.com/docs-service.git\ncd docs-service\nmake demo\n```\n\n" +
    "The command prints an address and the password of the admin. The site's **assistant key** may stand in public " +
    `pages: it opens questions and searches of one project, and nothing else [2](${keys}).`;
  const half = body.slice(0, body.indexOf("The command prints") + 58);
  const next = "\n\n```suggestions\n(Put the widget on a page)[/widget]\n(Every setting)[/configuration]\n```";
  const done = {
    text: body + next,
    sources,
    scope: { version: "", indexedAt: new Date(Date.now() - 4 * 60_000).toISOString(), pages: 20 },
  };
  const howTo = "How do I start the demo?";

  const all =
    "### What comes back\n\nA search answers a *list of hits*, best first:\n\n" +
    "| field | type | meaning |\n| --- | --- | ---: |\n| `content` | string | words around the match |\n| `path` | string | the page |\n| `metadata.score` | number | 0 to 1 |\n\n" +
    "1. Ask with a key.\n2. Read `metadata.url`, which leads to the section.\n\n" +
    '```python\nimport httpx\n\nanswer = httpx.post(\n    "https://docs.example.com/discovery/v1/search/acme",\n    headers={"Authorization": f"Bearer {key}"},\n    json={"query": "webhooks", "pageSize": 5},\n)\nanswer.raise_for_status()  # 429 has Retry-After\n```\n\n' +
    '```js\nconst answer = await fetch("https://docs.example.com/discovery/v1/search/acme", {\n  method: "POST",\n  headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },\n  body: JSON.stringify({ query: "webhooks", pageSize: 5 }),\n});\n```\n\n' +
    "> Scores mean the same for every query.\n\n- A long word wraps: `DISCOVERY_V1_ASSISTANT_MAXIMUM_RUNNING_ANSWERS_PER_ORGANIZATION`\n- ~~Old~~ ways go.";

  /** @type {Context} */
  const code = {
    type: "code",
    value: "docker run --rm \\\n  -p 8000:8000 \\\n  docs-service",
    label: "compose.sh · 3 lines",
    path: "/quickstart",
  };
  /** @type {Context} */
  const selection = {
    type: "textSelection",
    value: "unique visitors, human, AI and both",
    path: "/analytics-api",
    label: "“unique visitors, human…”",
  };

  return [
    {
      name: "empty",
      title: "Empty",
      about: "A greeting, questions to start with, the page the reader is on.",
      options: { starterQuestions: ["How do I start the demo?", "Who counts as AI?", "What does an answer cost?"] },
    },
    {
      name: "composing",
      title: "Composing",
      about: "The field grows. The context of the question stands above it and can be removed.",
      act: (panel) => {
        panel.composer.attach([code, selection]);
        panel.composer.text = "Why does this fail on port 8000?\nIt says that the address is in use.";
      },
    },
    {
      name: "sending",
      title: "Sending",
      about: "The question stands there at once.",
      thread: thread(howTo, { phase: "sending", messageId: null }),
    },
    {
      name: "searching",
      title: "Searching",
      about: "The line tells what really happens.",
      thread: thread(howTo, { phase: "searching" }),
    },
    {
      name: "reading",
      title: "Reading",
      about: "What the search found.",
      thread: thread(howTo, { phase: "reading", reading: ["Quickstart", "Errors and limits"] }),
    },
    {
      name: "answering",
      title: "Answering",
      about: "Text as it comes. Stop takes the place of Send.",
      thread: thread(howTo, { phase: "answering", text: half, sources: sources.slice(0, 1) }),
    },
    {
      name: "done",
      title: "Done",
      about: "The answer with its sources and what can be done with it.",
      thread: thread(howTo, done),
      act: scrollToTop,
    },
    {
      name: "searches",
      title: "The model's own searches",
      about: "Each stays as one quiet line below the sources.",
      thread: thread(howTo, {
        ...done,
        searches: [
          { callId: "c2", isPage: false, text: "demo password" },
          { callId: "c3", isPage: true, text: "Quickstart" },
        ],
      }),
    },
    {
      name: "elements",
      title: "What an answer may hold",
      about: "Headings, tables, code in several languages, lists, quotes.",
      thread: thread("What does the search API return?", { text: all, scope: done.scope }),
      act: scrollToTop,
    },
    {
      name: "citation",
      title: "A citation's card",
      about: "Page, place and the words that support the sentence.",
      thread: thread(howTo, done),
      act: (panel) => {
        scrollToTop(panel);
        panel.transcript.showCard();
      },
    },
    {
      name: "context",
      title: "A question with context",
      about: "What was sent with it.",
      thread: thread("Why does this fail?", done, [code, selection]),
      act: scrollToTop,
    },
    {
      name: "rated",
      title: "Feedback",
      about: "A thumb counts at once; a reason and a comment may follow.",
      thread: thread(howTo, done),
      act: rate,
    },
    {
      name: "refused",
      title: "Refused",
      about: "Nothing in the documentation answers it: the nearest pages, the owner's support link, no sources.",
      thread: thread("Can it make coffee?", {
        refused: true,
        text: `I couldn't find this in the documentation.\n\nThe nearest pages:\n\n- [Quickstart](${page("/quickstart")})\n- [Configuration](${page("/configuration")})\n- [Commands](${page("/commands")})\n\nStill stuck? [Ask the people behind these docs](mailto:support@example.com).`,
        notice: { rung: "nearest_pages", reason: "" },
        passages: [],
      }),
    },
    {
      name: "stopped",
      title: "Stopped",
      about: "What came stays; it can be gone on with.",
      thread: thread(howTo, { phase: "stopped", text: half, sources: sources.slice(0, 1) }),
    },
    {
      name: "reconnecting",
      title: "Reconnecting",
      about: "The same answer goes on as soon as there is a connection.",
      thread: thread(howTo, { phase: "answering", reconnecting: true, text: half }),
    },
    {
      name: "failed",
      title: "Failed",
      about: "One sentence, and another try that takes the failed one's place.",
      thread: thread(howTo, {
        phase: "failed",
        failure: { text: "Too many answers are running. Try again shortly.", status: 503, readyAt: null },
      }),
    },
    {
      name: "waiting",
      title: "Limited",
      about: "Counts down, then sends by itself.",
      thread: thread(howTo, {
        phase: "waiting",
        messageId: null,
        failure: { text: "Too many questions.", status: 429, readyAt: Date.now() + HOUR / 2 },
      }),
    },
    {
      name: "extractive",
      title: "Model away",
      about: "The best passages instead. A banner says so.",
      thread: thread(howTo, { ...done, notice: { rung: "extractive", reason: "daily_budget_spent" } }),
      act: scrollToTop,
    },
    {
      name: "queued",
      title: "Offline",
      about: "The question is kept and sent once there is a network.",
      thread: thread(howTo, { phase: "queued", messageId: null }),
    },
    {
      name: "restarted",
      title: "A new conversation",
      about: "The service no longer knew the old one.",
      thread: thread(howTo, { ...done, restarted: true }),
      act: scrollToTop,
    },
    {
      name: "menu",
      title: "Menu",
      about: "Past conversations, download, delete.",
      thread: thread(howTo, done),
      act: (panel) => (scrollToTop(panel), panel.menu.open()),
    },
    {
      name: "past",
      title: "Past conversations",
      about: "Those of the last day, in this browser.",
      thread: thread(howTo, done),
      past: [
        { chatId: "b", title: "Who counts as AI?", at: Date.now() - HOUR },
        { chatId: "c", title: "How do I rotate an admin key without downtime?", at: Date.now() - 3 * HOUR },
      ],
      act: openPage("Past conversations"),
    },
    {
      name: "delete",
      title: "Delete",
      about: "It says what goes, and asks once more.",
      thread: thread(howTo, done),
      act: openPage("Delete my data"),
    },
    {
      name: "about",
      title: "About",
      about: "What readers should know, in a few sentences.",
      thread: thread(howTo, done),
      act: openPage("About"),
    },
    {
      name: "counter",
      title: "A long question",
      about: "What is left shows once it gets scarce.",
      act: (panel) => {
        panel.composer.text = "Why is this line in my log? ".repeat(1_000);
      },
    },
    {
      name: "hostile",
      title: "A hostile answer",
      about: "Nothing in it is carried out: HTML is text, links lead to the web or to mail, images only from the docs.",
      thread: thread("<img src=x onerror=alert(1)>", {
        text: "<script>alert(1)</script> <img src=x onerror=alert(1)>\n\n[run](javascript:alert(1)) [look](https://elsewhere.example/) ![pixel](https://elsewhere.example/p.png) [1](data:text/html,x)\n\n<style>*{display:none}</style>",
      }),
    },
  ];
}
