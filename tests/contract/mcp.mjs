/** Connects the official MCP client, calls every tool, and prints what it got. With two addresses, requests go to them in turn. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const urls = process.argv.slice(2);
let sent = 0;
const transport = new StreamableHTTPClientTransport(new URL(urls[0]), {
  fetch: (_, options) => fetch(urls[sent++ % urls.length], options),
});
const client = new Client({ name: "JavaScript Agent", version: "1.0" });
await client.connect(transport);

const call = async (name, args) => client.callTool({ name, arguments: args });
const { tools } = await client.listTools();
const answer = await call("ask_docs", { question: "How do I install acme?" });
const { messageId } = answer.structuredContent;
const { resources } = await client.listResources();
const { contents } = await client.readResource({ uri: resources[0].uri });
const seen = {
  instructions: client.getInstructions(),
  tools: tools.map((tool) => tool.name),
  search: (await call("search_docs", { query: "install with pip" })).structuredContent,
  page: (await call("read_page", { path: "/install" })).structuredContent,
  answer: answer.structuredContent,
  feedback: (await call("give_feedback", { messageId, helpful: true })).structuredContent,
  refused: (await call("search_docs", { query: " " })).isError,
  resources: resources.map((resource) => resource.uri),
  templates: (await client.listResourceTemplates()).resourceTemplates.length,
  resource: contents[0].text,
};
await client.close();
console.log(JSON.stringify(seen));
