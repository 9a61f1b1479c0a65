"""A debug session through the official Python SDK. Prints what it saw as JSON.

Usage: sdk_client.py MODE PROGRAM LINE WAITING SERVER [ARGUMENT...]

PROGRAM is stopped at LINE; WAITING is a program that runs for ever. SERVER is a command, or an address, to which the
token in MCP_TOKEN is sent.

The SDK itself checks every structured answer against the schema that the tool declares.
"""

import asyncio
import json
import os
import sys
import warnings

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError


# Subscribing in the older way is what this program is to try, too.
warnings.simplefilter("ignore")


async def listen_once(client, uri, act):
    """Subscribes in the words of the client's revision, does something, and waits for one update."""
    if client.protocol_version == "2026-07-28":
        async with client.listen(resource_subscriptions=[uri]) as events:
            await act()
            async for event in events:
                return str(event.uri)
    heard = client.updates
    await client.subscribe_resource(uri)
    await act()
    updated = await asyncio.wait_for(heard.get(), 60)
    await client.unsubscribe_resource(uri)
    return updated


async def wait(client, call, program):
    """Waits for a program that does not stop, and tells whether progress was told meanwhile."""
    progress = []

    async def on_progress(done, total, message):
        progress.append(done)

    waited = (await call("create_debug_session", language="python"))["sessionId"]
    await call("start_debugging", sessionId=waited, scriptPath=program, timeout=0)
    arguments = {"sessionId": waited, "timeout": 2500}
    result = await client.call_tool("continue_execution", arguments, progress_callback=on_progress)
    await call("close_debug_session", sessionId=waited)
    return result.structured_content["state"] == "running" and progress == sorted(progress) and len(progress) > 0


async def session(client, program, line, waiting):
    seen = {"revision": client.protocol_version}

    async def call(tool, **arguments):
        result = await client.call_tool(tool, arguments)
        if result.is_error:
            raise AssertionError(f"{tool}: {result.content[0].text}")
        return result.structured_content

    seen["tools"] = len((await client.list_tools()).tools)
    created = await call("create_debug_session", language="python", name="through the SDK")
    debugged = created["sessionId"]
    placed = await call("set_breakpoint", sessionId=debugged, file=program, line=line)
    seen["verified"] = placed["verified"]
    stopped = await client.call_tool("start_debugging", {"sessionId": debugged, "scriptPath": program})
    seen["stopped"] = stopped.structured_content["location"]["line"]
    seen["text"] = json.loads(stopped.content[0].text) == stopped.structured_content
    value = await call("evaluate_expression", sessionId=debugged, expression="prices['pear'] * 2")
    seen["value"] = value["result"]
    seen["inside"] = (await call("step_into", sessionId=debugged))["location"]["function"]
    seen["outside"] = (await call("step_out", sessionId=debugged))["location"]["function"]

    failed = await client.call_tool("evaluate_expression", {"sessionId": debugged, "expression": "nobody"})
    seen["failed"] = [failed.is_error, failed.structured_content["code"]]
    wrong = await client.call_tool("set_breakpoint", {"line": "many"})
    seen["wrong"] = [wrong.is_error, wrong.structured_content["code"]]
    try:
        await client.call_tool("no_such_tool", {})
    except MCPError as error:
        seen["unknown"] = error.error.code

    uri = f"debug://sessions/{debugged}/output"
    listed = (await client.list_resources()).resources
    seen["listed"] = uri in [str(resource.uri) for resource in listed]

    async def on():
        seen["ended"] = (await call("continue_execution", sessionId=debugged))["state"]

    seen["updated"] = await listen_once(client, uri, on) == uri
    seen["output"] = (await client.read_resource(uri)).contents[0].text
    prompt = await client.get_prompt("debug", {"problem": "the sum is wrong"})
    seen["prompt"] = "the sum is wrong" in prompt.messages[0].content.text
    await call("close_debug_session", sessionId=debugged)
    seen["progress"] = await wait(client, call, waiting)
    seen["sessions"] = (await call("list_debug_sessions"))["count"]
    return seen


def reach(server, arguments):
    """The way to a server: its address, or how to start it."""
    if server.startswith("http://"):
        headers = {"Authorization": f"Bearer {os.environ['MCP_TOKEN']}"}
        return streamable_http_client(server, http_client=create_mcp_http_client(headers=headers))
    return StdioServerParameters(command=server, args=arguments, env=dict(os.environ))


async def main(mode, program, line, waiting, server, *arguments):
    updates = asyncio.Queue()

    async def on_message(message):
        uri = getattr(getattr(message, "params", None), "uri", None)
        if uri is not None:
            updates.put_nowait(str(uri))

    way = reach(server, list(arguments))
    async with Client(way, mode=mode, message_handler=on_message) as client:
        client.updates = updates
        print(json.dumps(await session(client, program, int(line), waiting)))


asyncio.run(main(*sys.argv[1:]))
