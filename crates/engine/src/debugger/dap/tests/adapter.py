"""A small adapter: `stdio`, `announce`, `listen ADDRESS`, or `die`."""

import json
import os
import socket
import subprocess
import sys


def read(stream):
    length = 0
    while line := stream.readline().strip():
        length = int(line.removeprefix(b"Content-Length: "))
    return json.loads(stream.read(length)) if length else None


def write(stream, message):
    body = json.dumps({"seq": 0, **message}).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    stream.flush()


def serve(incoming, outgoing):
    while request := read(incoming):
        command = request["command"]
        body = {"supportTerminateDebuggee": True} if command == "initialize" else {"threads": [{"id": 1, "name": "main"}]}
        answer = {"type": "response", "request_seq": request["seq"], "command": command, "success": True, "body": body}
        write(outgoing, answer)
        if command in ("launch", "attach"):
            program = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            numbers = "adapter %d program %d\n" % (os.getpid(), program.pid)
            write(outgoing, {"type": "event", "event": "output", "body": {"category": "stdout", "output": numbers}})
            write(outgoing, {"type": "event", "event": "initialized"})


def main(mode, address="127.0.0.1:0"):
    if mode == "die":
        sys.exit("there is no LLDB on this machine")
    if mode == "stdio":
        return serve(sys.stdin.buffer, sys.stdout.buffer)
    host, port = address.split(":")
    with socket.create_server((host, int(port))) as server:
        if mode == "announce":
            print("DAP server listening at: %s:%d" % server.getsockname(), flush=True)
        stream = server.accept()[0].makefile("rwb")
        serve(stream, stream)


main(*sys.argv[1:])
