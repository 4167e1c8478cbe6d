/** A page with `useChat` of AI SDK 5, 6 or 7 on it. See `browser.mjs`. */

import { createElement, useEffect, useState } from "react";

export async function load(release) {
  const { DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } = await import(release);
  const { useChat } = await import(`${release}-react`);

  function Page({ page }) {
    const { url, domain, key, context, chatId, messages, resume, sendAutomatically, replacesBody } = page.scenario;
    const [transport] = useState(
      () =>
        new DefaultChatTransport({
          api: `${url}/discovery/v2/assistant/${domain}/message`,
          headers: { Authorization: `Bearer ${key}` },
          body: () => ({
            fp: "anonymous",
            threadId: page.threadId,
            retrievalPageSize: 3,
            currentPath: "/embed",
            context,
          }),
          ...(replacesBody && {
            prepareSendMessagesRequest: ({ body, messages }) => ({ body: { ...body, messages } }), // without `trigger`
          }),
          fetch: page.fetch,
        }),
    );
    const chat = useChat({
      transport,
      ...(chatId && { id: chatId }),
      ...(messages && { messages }),
      ...(resume && { resume }),
      ...(sendAutomatically && {
        sendAutomaticallyWhen: (chat) =>
          page.turn.requests.length < 3 && // else a wrong service would be asked for ever
          lastAssistantMessageIsCompleteWithToolCalls(chat),
      }),
      onToolCall: () => {
        page.turn.tools += 1;
      },
      onData: ({ type, data }) => {
        page.turn.data.push({ type, data });
        if (type === "data-thread") page.threadId = data.threadId;
      },
      onFinish: ({ message, isError = false, isAbort = false, finishReason }) => {
        page.turn.finished = { id: message.id, metadata: message.metadata, isError, isAbort, finishReason };
      },
    });
    page.chat = chat;
    const text = textOf(answer(page));
    useEffect(() => {
      if (chat.status !== "streaming" || !answer(page)) return;
      page.turn.begun ??= answer(page).metadata;
      page.drawn({ id: answer(page).id, text });
    });
    return createElement("p", { role: chat.error && "alert" }, chat.error?.message ?? text);
  }

  return {
    Page,
    ask: (page, { question, body }) => page.chat.sendMessage({ text: question }, { body }),
    regenerate: (page, { messageId, body }) => page.chat.regenerate({ ...(messageId && { messageId }), body }),
    resume: (page) => page.chat.resumeStream(),
    look,
  };
}

function look(page) {
  const { chat, threadId, turn } = page;
  for (const request of turn.requests) request.events = eventsOf(request);
  return {
    threadId,
    chatId: chat.id,
    begun: turn.begun ?? null,
    messages: chat.messages,
    message: answer(page) ?? null,
    text: textOf(answer(page)),
    status: chat.status,
    error: chat.error?.message ?? null,
  };
}

/** All whole events of a stream. */
function eventsOf({ status, chunks }) {
  if (status !== 200) return [];
  const events = chunks.join("").split("\n\n").slice(0, -1);
  const sent = events.filter((event) => event.startsWith("data: {"));
  return sent.map((event) => JSON.parse(event.slice("data: ".length)));
}

/** The message that answers the last question, once it began. */
function answer({ chat }) {
  const last = chat.messages.at(-1);
  return last?.role === "assistant" ? last : undefined;
}

function textOf(message) {
  const parts = message?.parts ?? [];
  return parts.filter(({ type }) => type === "text").map(({ text }) => text).join("");
}
