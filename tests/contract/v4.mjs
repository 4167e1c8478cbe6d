/** A page with `useChat` of AI SDK 4 on it. See `browser.mjs`. */

import { createElement, useEffect, useState } from "react";

export async function load(release) {
  const { parseDataStreamPart } = await import(release);
  const { useChat } = await import(`${release}-react`);

  function Page({ page }) {
    const { url, domain, key, context, maxSteps } = page.scenario;
    const [threadId, setThreadId] = useState(page.threadId);
    const chat = useChat({
      api: `${url}/discovery/v1/assistant/${domain}/message`,
      headers: { Authorization: `Bearer ${key}` },
      body: { fp: "anonymous", threadId, retrievalPageSize: 3, currentPath: "/embed", context },
      streamProtocol: "data",
      sendExtraMessageFields: true,
      fetch: page.fetch,
      ...(maxSteps && { maxSteps }),
      onResponse: (response) => {
        page.threadId = response.headers.get("X-Thread-Id");
        setThreadId(page.threadId);
      },
      onFinish: (message, { finishReason, usage }) => {
        page.turn.finished = { id: message.id, annotations: message.annotations, finishReason, usage };
      },
    });
    page.chat = chat;
    const text = answer(page)?.content ?? "";
    useEffect(() => {
      if (chat.isLoading && answer(page)) page.drawn({ id: answer(page).id, text });
    });
    return createElement("p", { role: chat.error && "alert" }, chat.error?.message ?? text);
  }

  /** The kinds of all whole lines of a stream, by the library's own reader, which throws on a line it does not know. */
  function kindsOf({ status, chunks }) {
    if (status !== 200) return [];
    const lines = chunks.join("").split("\n").slice(0, -1);
    return lines.filter(Boolean).map((line) => parseDataStreamPart(line).type);
  }

  async function ask(page, { question }) {
    page.earlier = page.chat.data?.length ?? 0; // `data` grows through the whole conversation
    await page.chat.append({ role: "user", content: question });
  }

  function look(page) {
    const { chat, threadId, earlier, turn } = page;
    for (const request of turn.requests) request.kinds = kindsOf(request);
    return {
      threadId,
      message: answer(page) ?? null,
      data: chat.data?.slice(earlier) ?? [],
      status: chat.status ?? (chat.isLoading ? "loading" : chat.error ? "error" : "ready"), // new in 1.1.15 of the hook
      error: chat.error?.message ?? null,
    };
  }

  return { Page, ask, look };
}

/** The message that answers the last question, once it began. */
function answer({ chat }) {
  const last = chat.messages.at(-1);
  return last?.role === "assistant" ? last : undefined;
}
