// The official TypeScript SDK's client: one job through every candidate, a second one cancelled.
//
//   node client.mjs '{"command": "...", "args": [...], "instance": "o", "input": "...",
//                     "candidates": ["...", "..."], "cancel": {"outcome": "refusal"}}'
//
// `url` instead of `command` connects over Streamable HTTP. `sdk` is 2 (the default) or 1; for 2,
// `mode` is its `versionNegotiation.mode`. Prints what the client saw, as JSON.

const plan = JSON.parse(process.argv[2]);
const sdk = plan.sdk === 1 ? await first() : await second();

async function first() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const http = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  return { Client, StdioClientTransport, ...http };
}

async function second() {
  const [main, stdio] = await Promise.all([
    import("@modelcontextprotocol/client"),
    import("@modelcontextprotocol/client/stdio"),
  ]);
  return { ...main, ...stdio };
}

const client = new sdk.Client(
  { name: "intent-runtime-tests", version: "0.0.0" },
  { versionNegotiation: { mode: plan.mode ?? "auto" } },
);
const transport = plan.url
  ? new sdk.StreamableHTTPClientTransport(new URL(plan.url))
  : new sdk.StdioClientTransport({ command: plan.command, args: plan.args, stderr: "inherit" });

const results = [];

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  results.push(result);
  return result.structuredContent;
}

try {
  await client.connect(transport);
  // Version 1 tells its protocol over HTTP only.
  const protocol = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null;
  const { tools } = await client.listTools();

  const request = { instance: plan.instance, input: plan.input };
  let reply = await call("intent_prepare", request);
  for (const candidateText of plan.candidates) {
    const { jobId, stepToken } = reply;
    reply = await call("intent_accept", { jobId, stepToken, candidateText });
  }
  const { jobId } = await call("intent_prepare", request);
  await call("intent_cancel", { jobId, ...plan.cancel });

  const server = client.getServerVersion();
  const instructions = client.getInstructions();
  console.log(JSON.stringify({ protocol, server, instructions, tools, results }));
} finally {
  await client.close();
}
