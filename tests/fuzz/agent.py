# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""An agent that takes whatever it is sent, and says whatever a prompt tells it to, byte by byte."""

import json
import os
import sys

CAPABILITIES = {
    "loadSession": True,
    "sessionCapabilities": {key: {} for key in ["list", "fork", "resume", "close", "delete"]},
}
sessions = 0
heard = []


def answered(method, params):
    """Return the result of a request, after what it has to say before."""
    global sessions
    if method == "initialize":
        return {"protocolVersion": 1, "agentCapabilities": CAPABILITIES}
    if method in ("session/new", "session/fork"):
        sessions += 1
        return {"sessionId": f"theirs-{sessions}"}
    if method == "session/list":
        return {"sessions": []}
    if method == "session/prompt":
        for block in params["prompt"]:
            if isinstance(block.get("say"), str):
                # A client cannot know what the agent calls the session.
                said = block["say"].replace("$THEIRS", params["sessionId"])
                os.write(1, said.encode("utf-8", "surrogateescape"))
        return {"stopReason": "end_turn", "_meta": {"heard": heard}}
    return {}


for line in sys.stdin.buffer:
    message = json.loads(line)
    if "method" not in message:
        heard.append(message["id"])
    if message.get("id") is not None and "method" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"].startswith("_"):
            answer["error"] = {"code": -32601, "message": "Method not found"}
        else:
            answer["result"] = answered(message["method"], message.get("params"))
        os.write(1, json.dumps(answer).encode() + b"\n")
