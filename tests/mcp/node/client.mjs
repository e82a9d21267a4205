// The official TypeScript SDK's client: one job through every candidate, a second one cancelled.
//
//   node client.mjs '{"command": "...", "args": [...], "instance": "o", "input": "...",
//                     "candidates": ["...", "..."], "cancel": {"outcome": "refusal"}}'
//
// `url` instead of `command` connects over Streamable HTTP. Prints what the client saw, as JSON.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const plan = JSON.parse(process.argv[2]);
const client = new Client({ name: "intent-runtime-tests", version: "0.0.0" });
const transport = plan.url
  ? new StreamableHTTPClientTransport(new URL(plan.url))
  : new StdioClientTransport({ command: plan.command, args: plan.args, stderr: "inherit" });

const results = [];

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  results.push(result);
  return result.structuredContent;
}

try {
  await client.connect(transport);
  await client.ping();
  const { tools } = await client.listTools();

  const first = { instance: plan.instance, input: plan.input };
  let reply = await call("intent_prepare", first);
  for (const candidateText of plan.candidates) {
    const { jobId, stepToken } = reply;
    reply = await call("intent_accept", { jobId, stepToken, candidateText });
  }
  const { jobId } = await call("intent_prepare", first);
  await call("intent_cancel", { jobId, ...plan.cancel });

  console.log(
    JSON.stringify({
      protocol: transport.protocolVersion ?? null,
      server: client.getServerVersion(),
      instructions: client.getInstructions(),
      tools,
      results,
    }),
  );
} finally {
  await client.close();
}
