/**
 * A page with `useChat` of AI SDK 4 on it, told what to ask: `node v4.mjs SCENARIO`, the scenario as JSON.
 *
 * It asks one question after the other, prints one line of JSON with what the page saw, and stays open until
 * its stdin ends. So a connection that closes before that was closed by the client library, not by the exit.
 */

import { parseDataStreamPart } from "ai4";
import { useChat } from "ai-react1";
import { Window } from "happy-dom";
import { createElement, useEffect, useState } from "react";

const scenario = JSON.parse(process.argv[2]);

const window = new Window();
Object.assign(globalThis, { window, document: window.document });
globalThis.navigator ??= window.navigator; // newer releases of Node have one
const { createRoot } = await import("react-dom/client"); // looks for a DOM when it is loaded

let chat; // what the hook returned last
let turn; // what the page saw of the question now being asked

/** Ask the network, and write down what went out and what came back. */
async function recordingFetch(address, init) {
  const response = await fetch(address, init);
  const request = { body: JSON.parse(init.body), status: response.status, chunks: [] };
  turn.requests.push(request);
  const recorder = new TransformStream({
    transform(chunk, controller) {
      request.chunks.push(new TextDecoder().decode(chunk));
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(recorder), response);
}

/** The kinds of all whole lines of a stream, by the library's own reader, which throws on a line it does not know. */
function kindsOf({ status, chunks }) {
  if (status !== 200) return [];
  const lines = chunks.join("").split("\n").slice(0, -1);
  return lines.filter(Boolean).map((line) => parseDataStreamPart(line).type);
}

function Page() {
  const { url, domain, key, context, maxSteps, stopAfter } = scenario;
  const [threadId, setThreadId] = useState(scenario.threadId ?? null);
  chat = useChat({
    api: `${url}/discovery/v1/assistant/${domain}/message`,
    headers: { Authorization: `Bearer ${key}` },
    body: { fp: "anonymous", threadId, retrievalPageSize: 3, currentPath: "/embed", context },
    streamProtocol: "data",
    sendExtraMessageFields: true,
    fetch: recordingFetch,
    ...(maxSteps && { maxSteps }),
    onResponse: (response) => {
      turn.threadId = response.headers.get("X-Thread-Id");
      setThreadId(turn.threadId);
    },
    onFinish: (message, { finishReason, usage }) => {
      turn.finished = { id: message.id, annotations: message.annotations, finishReason, usage };
    },
  });
  const content = answer()?.content ?? "";
  useEffect(() => {
    if (chat.status !== "streaming" || !answer()) return;
    turn.ids.add(answer().id);
    turn.lengths.add(content.length);
    if (content.length >= stopAfter) chat.stop();
  });
  return createElement("p", { role: chat.error && "alert" }, chat.error?.message ?? content);
}

/** The message that answers the last question, once it began. */
function answer() {
  const last = chat.messages.at(-1);
  return last?.role === "assistant" ? last : undefined;
}

process.stdin.on("end", () => process.exit()).resume();
setTimeout(() => {
  console.error(`The page was still ${chat?.status} after 30 seconds.`);
  process.exit(1);
}, 30_000);

const settle = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const root = document.body.appendChild(document.createElement("main"));
createRoot(root).render(createElement(Page));
await settle(50);

const turns = [];
for (const question of scenario.questions) {
  turn = { requests: [], ids: new Set(), lengths: new Set(), threadId: null, finished: null };
  const earlier = chat.data?.length ?? 0; // `data` grows through the whole conversation
  await chat.append({ role: "user", content: question });
  await settle(200); // the last state is drawn, and a request that the library makes by itself is begun
  turns.push({
    ...turn,
    requests: turn.requests.map((request) => ({ ...request, kinds: kindsOf(request) })),
    ids: [...turn.ids],
    lengths: [...turn.lengths],
    message: answer() ?? null,
    data: chat.data?.slice(earlier) ?? [],
    status: chat.status,
    error: chat.error?.message ?? null,
    shown: root.textContent,
  });
}
console.log(JSON.stringify(turns));
