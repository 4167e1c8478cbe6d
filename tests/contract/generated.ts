// Calls every operation through a client that was generated from the OpenAPI document. `client` is its folder.
// Argument: a file with the service's address, the project, its keys, a conversation, and an example of each body.
import { readFileSync } from "node:fs";
import { createClient } from "./client/client";
import * as api from "./client/sdk.gen";
import type * as types from "./client/types.gen";

interface Setting {
  url: string;
  domain: string;
  projectId: string;
  threadId: string;
  assistantKey: string;
  adminKey: string;
  archive: string;
  bodies: {
    askV1: types.AskV1Data["body"];
    askV2: types.AskV2Data["body"];
    collectViews: types.CollectViewsData["body"];
    findMissingFiles: types.FindMissingFilesData["body"];
    countSupportFormEvent: types.CountSupportFormEventData["body"];
    forgetConversation: types.ForgetConversationData["body"];
    getPage: types.GetPageData["body"];
    previewAnswer: types.PreviewAnswerData["body"];
    reportClick: types.ReportClickData["body"];
    reportView: types.ReportViewData["body"];
    search: types.SearchData["body"];
    sendFeedback: types.SendFeedbackData["body"];
    sendSupportRequest: types.SendSupportRequestData["body"];
    stopAnswer: types.StopAnswerData["body"];
  };
}

const { url, domain, projectId, threadId, assistantKey, adminKey, archive, bodies }: Setting = JSON.parse(
  readFileSync(process.argv[2] as string, "utf8"),
);
const reader = createClient({ baseUrl: url, auth: assistantKey });
const owner = createClient({ baseUrl: url, auth: adminKey });
const site = { client: reader, path: { domain } };
const exported = { client: owner, path: { projectId } };
const pushed = { client: owner, path: { projectId, name: "docs" } };
const range = { dateFrom: "2026-01-01", dateTo: "2027-01-01T00:00:00Z", limit: 5 };
const page = { client: reader, path: { domain }, headers: { Origin: url } };

const statuses: Record<string, number> = {};
async function call(name: keyof typeof api, sent: Promise<{ response?: Response; data?: unknown }>) {
  const { response, data } = await sent;
  statuses[name] = response?.status ?? 0;
  return data;
}

/** Calls an operation whose answer is a stream of events. The generated function keeps its status to itself. */
async function stream(name: keyof typeof api, sent: Promise<{ stream: AsyncIterable<unknown> }>) {
  statuses[name] = 0;
  for await (const _ of (await sent).stream) statuses[name] = 200;
}

async function main() {
  await call("getVisitors", api.getVisitors({ ...exported, query: { ...range, offset: 0 } }));
  await call("getViews", api.getViews({ ...exported, query: range }));
  await call("getSearches", api.getSearches({ ...exported, query: range }));
  await call("getSources", api.getSources({ ...exported, query: range }));
  await call("getConversations", api.getConversations({ ...exported, query: range }));
  await call("getConversation", api.getConversation({ client: owner, path: { projectId, threadId } }));
  await call("getCallerStats", api.getCallerStats(exported));
  await call("getAgents", api.getAgents({ ...exported, query: { clientClass: "ai_training" } }));
  await call("getAnnotations", api.getAnnotations({ ...exported }));
  await call("getCosts", api.getCosts({ ...exported, query: { step: "month" } }));
  await call("getGaps", api.getGaps({ ...exported, query: { state: "all", problem: "refused" } }));
  await call("getFeedback", api.getFeedback({ ...exported, query: { source: "contextual", status: "pending" } }));
  await call("getFeedbackByPage", api.getFeedbackByPage(exported));
  await call("collectViews", api.collectViews({ ...exported, body: bodies.collectViews }));
  const found = (await call("search", api.search({ ...site, body: bodies.search }))) as types.SearchResponse;
  const title: string | undefined = found[0]?.metadata.title;
  if (title !== "Installing acme") throw new Error(`found ${title}`);
  await call("getPage", api.getPage({ ...site, body: bodies.getPage }));
  await call("previewAnswer", api.previewAnswer({ ...site, body: bodies.previewAnswer }));
  await call("reportClick", api.reportClick({ ...page, body: bodies.reportClick }));
  await call("reportView", api.reportView({ ...page, body: bodies.reportView }));
  await call("sendFeedback", api.sendFeedback({ ...page, body: bodies.sendFeedback }));
  await call("getSupportForm", api.getSupportForm(site));
  await call("sendSupportRequest", api.sendSupportRequest({ ...page, body: bodies.sendSupportRequest }));
  await call("countSupportFormEvent", api.countSupportFormEvent({ ...page, body: bodies.countSupportFormEvent }));
  await call("getWidgetConfiguration", api.getWidgetConfiguration(site));
  await call("askV1", api.askV1({ ...site, body: bodies.askV1 }));
  await stream("askV2", api.askV2({ ...site, body: bodies.askV2 }));
  await call("stopAnswer", api.stopAnswer({ ...site, body: bodies.stopAnswer }));
  await call("forgetConversation", api.forgetConversation({ ...site, body: bodies.forgetConversation }));
  await stream("resumeAnswer", api.resumeAnswer({ client: reader, path: { domain, chatId: "chat-9" }, sseMaxRetryAttempts: 1 }));
  await call("findMissingFiles", api.findMissingFiles({ ...pushed, body: bodies.findMissingFiles }));
  await call("pushSource", api.pushSource({ ...pushed, body: new Blob([Buffer.from(archive, "base64")]) }));
  await call("getPushedSources", api.getPushedSources(exported));
  await call("deletePushedSource", api.deletePushedSource(pushed));
  process.stdout.write(JSON.stringify(statuses));
}

main();
