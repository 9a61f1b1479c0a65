// A debug session through an official TypeScript SDK. Prints what it saw as JSON.
//
// Usage: sdk_client.mjs MODULES SDK MODE PROGRAM LINE SERVER [ARGUMENT...]
//
// MODULES is where npm has installed the SDKs; SDK is `sdk` (1.x) or `client` (2.x); MODE is `legacy`, `auto` or a
// revision, for 2.x. PROGRAM is stopped at LINE. SERVER is a command, or an address, to which the token in MCP_TOKEN is
// sent.
//
// The SDKs check every structured answer against the schema that the tool declares.

import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules, sdk, mode, program, line, server, ...rest] = process.argv.slice(2);
const from = (path) => import(pathToFileURL(join(modules, "@modelcontextprotocol", path)));

async function load() {
  if (sdk === "sdk") {
    const { Client } = await from("sdk/dist/esm/client/index.js");
    const { StdioClientTransport } = await from("sdk/dist/esm/client/stdio.js");
    const { StreamableHTTPClientTransport } = await from("sdk/dist/esm/client/streamableHttp.js");
    return { Client, StdioClientTransport, StreamableHTTPClientTransport, options: {} };
  }
  const { Client, StreamableHTTPClientTransport } = await from("client/dist/index.mjs");
  const { StdioClientTransport } = await from("client/dist/stdio.mjs");
  const negotiation = mode === "legacy" || mode === "auto" ? mode : { pin: mode };
  return {
    Client,
    StdioClientTransport,
    StreamableHTTPClientTransport,
    options: { versionNegotiation: { mode: negotiation } },
  };
}

const { Client, StdioClientTransport, StreamableHTTPClientTransport, options } = await load();
const headers = { Authorization: `Bearer ${process.env.MCP_TOKEN}` };
const transport = server.startsWith("http://")
  ? new StreamableHTTPClientTransport(new URL(server), { requestInit: { headers } })
  : new StdioClientTransport({ command: server, args: rest, env: process.env });
const client = new Client({ name: "tests", version: "1" }, options);
await client.connect(transport);

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  return result.structuredContent;
}

const seen = {};
seen.revision = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null;
seen.tools = (await client.listTools()).tools.length;
const { sessionId } = await call("create_debug_session", { language: "python" });
await call("set_breakpoint", { sessionId, file: program, line: Number(line) });
const stopped = await call("start_debugging", { sessionId, scriptPath: program, timeout: 60000 });
seen.stopped = stopped.location.line;
const stack = await call("get_stack_trace", { sessionId });
seen.stack = stack.stackFrames.map((frame) => frame.name);
const locals = await call("get_local_variables", { sessionId });
seen.locals = locals.variables.map((variable) => variable.name).sort();
const value = { sessionId, expression: "prices['pear'] * 2" };
seen.value = (await call("evaluate_expression", value)).result;
seen.inside = (await call("step_into", { sessionId })).location.function;
seen.outside = (await call("step_out", { sessionId })).location.function;
const failed = await client.callTool({ name: "evaluate_expression", arguments: { sessionId, expression: "nobody" } });
seen.failed = [failed.isError, failed.structuredContent.code];
const ended = await call("continue_execution", { sessionId });
seen.ended = [ended.state, ended.output];
await call("close_debug_session", { sessionId });
seen.sessions = (await call("list_debug_sessions", {})).count;
await transport.terminateSession?.();
await client.close();
console.log(JSON.stringify(seen));
