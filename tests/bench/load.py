# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The load: an agent that writes updates as fast as it can, one write each.

The prompt says what: `flood COUNT SIZE`, `paced COUNT PER_SECOND`, `line BYTES`, `pause SECONDS`,
`markdown LENGTH BLOCKS PER_SECOND`, `messages COUNT`, `ask METHOD COUNT`, which says how many nanoseconds each answer took.
"""

import json
import os
import sys
import time

CHUNK = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":'
    b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n'
)


def write(data):
    while data:
        data = data[os.write(1, data) :]


def chunk(session, text):
    write(CHUNK % (session, text))


def update(session, fields):
    params = {"sessionId": session.decode(), "update": fields}
    body = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    write(json.dumps(body, separators=(",", ":")).encode() + b"\n")


def markdown(length, blocks):
    """A long answer: paragraphs, lists and code, as agents write them."""
    part = (
        "## Step {0}\n\nFirst **look** at `value_{0}`, then at the rest:\n\n- one thing\n- another\n\n"
        "```python\ndef step_{0}(value):\n    return [value * n for n in range({0})]\n```\n\n"
    )
    filler = "And some more words about it, so that there is something to read. "
    parts = []
    for number in range(blocks):
        text = part.format(number)
        parts.append(text + filler * ((length // blocks - len(text)) // len(filler)) + "\n\n")
    return "".join(parts) + "The end."


def message(number):
    """One of many: what a user says, what an agent does, and what it answers."""
    content = {"type": "text", "text": f"This is **message {number}**, with `code` and words."}
    if number % 5 == 3:
        title = f"Read file-{number}.py"
        call = {"toolCallId": f"call-{number}", "title": title, "kind": "read"}
        return {"sessionUpdate": "tool_call", **call, "status": "completed"}
    kind = "user_message_chunk" if number % 5 == 0 else "agent_message_chunk"
    return {"sessionUpdate": kind, "messageId": f"m-{number}", "content": content}


def run(session, command):
    kind, *numbers = command.split()
    if kind == "flood":
        count, size = map(int, numbers)
        overhead = len(CHUNK % (session, b"000000000 "))
        filler = b"x" * max(0, size - overhead)
        head, tail = (CHUNK % (session, b"| " + filler)).split(b"|")
        for number in range(count):
            # One write a line, and as little besides as possible: the load is not what is measured.
            os.write(1, b"%b%09d%b" % (head, number, tail))
    elif kind == "paced":
        count, rate = int(numbers[0]), float(numbers[1])
        start = time.monotonic()
        for number in range(count):
            time.sleep(max(0, start + number / rate - time.monotonic()))
            chunk(session, b"t=%d" % time.monotonic_ns())
    elif kind == "line":
        chunk(session, b"x" * int(numbers[0]))
    elif kind == "markdown":
        length, blocks, rate = int(numbers[0]), int(numbers[1]), float(numbers[2])
        text = markdown(length, blocks)
        start = time.monotonic()
        for number, at in enumerate(range(0, len(text), 40)):
            time.sleep(max(0, start + number / rate - time.monotonic()))
            chunk(session, json.dumps(text[at : at + 40])[1:-1].encode())
    elif kind == "messages":
        for number in range(int(numbers[0])):
            update(session, message(number))
    elif kind == "pause":
        time.sleep(float(numbers[0]))
    elif kind == "ask":
        method, count = numbers[0], int(numbers[1])
        body = json.dumps({"sessionId": session.decode()})
        ask = f'{{"jsonrpc":"2.0","id":"q","method":"{method}","params":{body}}}\n'.encode()
        times = []
        for _ in range(count):
            time.sleep(0.01)
            start = time.monotonic_ns()
            write(ask)
            answer = sys.stdin.buffer.readline()
            times.append(time.monotonic_ns() - start)
            assert b'"result"' in answer, answer[:200]
        chunk(session, json.dumps(times).encode())


def main():
    sessions = 0
    for line in sys.stdin.buffer:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params") or {}
        if method == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {}}
        elif method == "session/new":
            sessions += 1
            result = {"sessionId": f"session-{os.getpid()}-{sessions}"}
        elif method == "session/prompt":
            run(params["sessionId"].encode(), params["prompt"][0]["text"])
            result = {"stopReason": "end_turn"}
        else:
            continue
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")


main()
