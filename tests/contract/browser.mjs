/**
 * A browser with the clients of one release in it: `node browser.mjs v5 ai5-oldest`.
 *
 * It reads one command as JSON from each line of its stdin, and answers each with one line of JSON: which page
 * it was, and what that page saw meanwhile. Pages stay open until stdin ends, as tabs do, so a connection that
 * closes before that was closed by the client library.
 */

import { createInterface } from "node:readline";
import { Window } from "happy-dom";
import { createElement } from "react";

const [protocol, release] = process.argv.slice(2);
const PATIENCE = 20_000;
const A_DRAWING = 25; // milliseconds; the state that a client set last is on the page by then

const window = new Window();
Object.assign(globalThis, { window, document: window.document });
globalThis.navigator ??= window.navigator; // newer releases of Node have one
const { createRoot } = await import("react-dom/client"); // looks for a DOM when it is loaded
const { load } = await import(`./${protocol}.mjs`);
const client = await load(release);

const pages = [];
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A page: the hook's last result in `chat`, and in `turn` what was seen since the last command. */
function open(scenario) {
  const page = { scenario, chat: undefined, threadId: scenario.threadId ?? null };
  page.fetch = (address, init) => recordingFetch(page, address, init);
  page.drawn = (answer) => drawn(page, answer);
  page.root = document.body.appendChild(document.createElement("main"));
  page.number = pages.push(page) - 1;
  begin(page, {});
  createRoot(page.root, { identifierPrefix: `page${page.number}` }).render(createElement(client.Page, { page }));
  return page;
}

function begin(page, { stopAfter, dropAfter }) {
  const seen = { requests: [], ids: new Set(), lengths: new Set(), data: [], tools: 0 };
  page.turn = { stopAfter, dropAfter, connection: new AbortController(), ...seen };
}

/** Ask the network, and write down what went out and what came back. */
async function recordingFetch(page, address, init) {
  const { requests, connection } = page.turn;
  const request = { method: init.method, body: init.body && JSON.parse(init.body), chunks: [] };
  requests.push(request);
  const signals = [init.signal, connection.signal].filter(Boolean);
  const response = await fetch(address, { ...init, signal: AbortSignal.any(signals) });
  request.status = response.status;
  request.threadId = response.headers.get("X-Thread-Id");
  if (!response.body) return response;
  const recorder = new TransformStream({
    transform(chunk, controller) {
      request.chunks.push(new TextDecoder().decode(chunk));
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(recorder), response);
}

/** What a page does whenever it was drawn with a piece of an answer. */
function drawn(page, { id, text }) {
  const { turn } = page;
  turn.ids.add(id);
  turn.lengths.add(text.length);
  if (text.length >= turn.stopAfter) page.chat.stop();
  if (text.length >= turn.dropAfter) turn.connection.abort(new TypeError("The network is gone."));
}

async function obey({ command, page: number, ...options }) {
  const page = command === "open" ? open(options) : pages[number];
  if (command === "open") {
    do await pause(A_DRAWING);
    while (options.resume && !page.turn.requests[0]?.status); // the hook asks by itself
  } else {
    begin(page, options);
    await client[command](page, options);
    while (page.chat.status === "streaming") await pause(A_DRAWING); // a busy machine draws the end later
  }
  await pause(A_DRAWING);
  const { requests, ids, lengths, data, tools, finished = null } = page.turn;
  const seen = { requests, ids: [...ids], lengths: [...lengths], data, tools, finished, shown: page.root.textContent };
  return { page: page.number, ...seen, ...client.look(page) };
}

async function giveUp({ command }) {
  await pause(PATIENCE);
  throw new Error(`The page did not come to rest after the command ${command}.`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const answer = await Promise.race([obey(command), giveUp(command)]).catch((failure) => ({ failure: failure.stack }));
  console.log(JSON.stringify(answer));
}
process.exit();
