// Attaches to an exposed session with the client of @vscode/debugadapter-testsupport, and prints what it saw as JSON.
//
// Usage: independent.cjs MODULES PORT TOKEN

const { join } = require("node:path");

const [modules, port, mirrorToken] = process.argv.slice(2);
const { DebugClient } = require(join(modules, "@vscode/debugadapter-testsupport"));

async function connect() {
  const client = new DebugClient("", "", "stillframe");
  await client.start(Number(port));
  await client.initializeRequest();
  return client;
}

async function innermost(client, threadId) {
  const { stackFrames } = (await client.stackTraceRequest({ threadId })).body;
  return stackFrames[0];
}

async function place(client, { reason, threadId }) {
  const frame = await innermost(client, threadId);
  return [reason, frame.source.path, frame.line];
}

async function main() {
  const stranger = await connect();
  const refused = await stranger.attachRequest({ mirrorToken: "wrong" }).then(
    () => false,
    (error) => /mirrorToken/.test(error.message),
  );

  const client = await connect();
  const first = client.waitForEvent("stopped");
  await client.attachRequest({ mirrorToken });
  await client.configurationDoneRequest();
  const stop = (await first).body;
  const stopped = await place(client, stop);

  const next = client.waitForEvent("stopped");
  await client.stepInRequest({ threadId: stop.threadId });
  const step = (await next).body;
  const stepped = await place(client, step);
  const frame = await innermost(client, step.threadId);
  const { scopes } = (await client.scopesRequest({ frameId: frame.id })).body;
  const { variables } = (await client.variablesRequest({ variablesReference: scopes[0].variablesReference })).body;
  const number = variables.find((variable) => variable.name === "number").value;
  const doubled = await client.evaluateRequest({ expression: "number * 2", frameId: frame.id, context: "repl" });

  const { threads } = (await client.threadsRequest()).body;
  const resumed = threads.some((thread) => thread.id === step.threadId);
  await client.disconnectRequest();
  console.log(JSON.stringify({ refused, stopped, stepped, number, doubled: doubled.body.result, resumed }));
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
