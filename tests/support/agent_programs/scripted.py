# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""An agent that does what the prompt says, written without any of our own code.

The prompt's text is a JSON list of steps, for example `[["chunk", "hello"], ["exit", 3]]`. The only
argument is a JSON object of options; see OPTIONS.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

OPTIONS = {
    "capabilities": {},  # agentCapabilities
    "mute": False,  # never answers initialize
    "protocol": 1,
    "early": 0,  # updates before the session/new response
    "early_params": [],  # the same, each as the params of session/update without the session
    "behind": [],  # updates in one write with the session/new response, right behind it
    "session_id": None,  # the id of every session, however many there are
    "session_ids": [],  # the ids of the first sessions, in their order
    "slow_new": 0,  # seconds that session/new takes
    "listed": [[]],  # the pages of session/list; None is one that never comes
    "modes": True,  # whether it has modes
    "replay": 0,  # updates during session/load: what was said, again and again if need be, or "all"
    "replay_pause": 0,  # seconds before each update during session/load
    "replay_late": 0,  # updates after the session/load response
    "late_after": 0,  # seconds before the first of them
    "late_pause": 0,  # seconds before each of them
    "repeats_ids": False,  # whether what is repeated has the ids of messages
    "loaded": [],  # other updates during session/load, each time the same
    "refuse": [],  # methods that get -32601
    "ignore": [],  # methods that are never answered
    "new_error": None,  # the error of session/new
    "auth_methods": [],  # authMethods; session/new needs one of them if "login" is set
    "load_setup": False,  # whether session/load tells its modes, models and options, as they began
    "login": None,  # the id of the method that logs in; others are refused
    "models": None,  # the models of session/new
    "options": None,  # the configOptions of session/new; setting one to "refused" is an error
    "fork_replay": 0,  # updates of the fork before the session/fork response
    "fork_id": True,  # whether the session/fork response names the fork
    "own_mode": None,  # the mode that it goes on to, in one write with the session/set_mode response
    "children": [],  # "plain", "setsid": started at initialize
    "ignore_eof": False,
    "stderr": "",
    "stdin": True,  # whether stdin is read after initialize
    "close_stdin": False,  # closes stdin before it answers initialize, and lives on
}
OPTIONS.update(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {})

sessions = 0
asked = 0
client_capabilities = {}
mcp_servers = {}
asked_for = []
folders = {}
prompts = {}
ended = []
cancelled = set()
put_off = {}
logged_in = False
backlog = []


def write(*messages):
    """Write messages in one go."""
    os.write(1, b"".join(json.dumps(message).encode() + b"\n" for message in messages))


def read():
    if backlog:
        return backlog.pop(0)
    return receive()


def receive():
    line = sys.stdin.buffer.readline()
    if not line:
        if OPTIONS["ignore_eof"]:
            time.sleep(1000)
        sys.exit(0)
    return json.loads(line)


def answer(id, result=None, error=None, behind=()):
    """Answer a request, with more messages right behind the answer."""
    body = {"error": error} if error else {"result": result}
    write({"jsonrpc": "2.0", "id": id, **body}, *behind)


def updating(session, **params):
    params = {"sessionId": session, **params}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def update(session, **fields):
    write(updating(session, update=fields))


MODES = {
    "currentModeId": "a",
    "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}],
}


def setup():
    return {
        **({"modes": MODES} if OPTIONS["modes"] else {}),
        **({"models": OPTIONS["models"]} if OPTIONS["models"] else {}),
        **({"configOptions": OPTIONS["options"]} if OPTIONS["options"] else {}),
    }


def remember(session, kind, text):
    """Keep what was said, for an agent that is to repeat it: it may not be this process."""
    if OPTIONS["replay"] or OPTIONS["replay_late"] or OPTIONS["fork_replay"]:
        with open(folders[session] / f".{session}.said", "a") as said:
            said.write(json.dumps([kind, text]) + "\n")


def repeat(session, start, count, pause=0):
    """Repeat what was said, as many updates of it as are wanted."""
    path = folders[session] / f".{session}.said"
    # The last line may be torn: whoever wrote it was killed.
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    said = [json.loads(line) for line in lines]
    if count == "all":
        count = len(said)
    for number in range(start, start + count if said else start):
        time.sleep(pause)
        kind, text = said[number % len(said)]
        id = {"messageId": f"m{number % len(said)}"} if OPTIONS["repeats_ids"] else {}
        update(session, sessionUpdate=kind, content={"type": "text", "text": text}, **id)


def chunk(session, text):
    remember(session, "agent_message_chunk", text)
    update(session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def request(method, params):
    """Ask the client and wait, keeping what else arrives for later."""
    global asked
    asked += 1
    id = f"agent-{asked}"
    write({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    while True:
        message = receive()
        if message.get("id") == id and "method" not in message:
            return message
        if message.get("method") == "session/cancel":
            cancelled.add(message["params"]["sessionId"])
        else:
            backlog.append(message)


def steps(session, id, script):
    for name, *args in script:
        if name == "chunk":
            chunk(session, args[0])
        elif name == "update":
            update(session, **args[0])
        elif name == "flood":
            count, size = args
            filler = "x" * size
            for number in range(count):
                chunk(session, f"{number} {filler}")
        elif name == "burst":
            count, size = args
            fields = {"sessionUpdate": "agent_message_chunk"}
            texts = (f"{number} {'x' * size}" for number in range(count))
            contents = [{"type": "text", "text": text} for text in texts]
            write(*(updating(session, update={**fields, "content": each}) for each in contents))
        elif name == "same":
            count, text = args
            content = {"type": "text", "text": text}
            fields = {"sessionUpdate": "agent_message_chunk", "content": content}
            block = (json.dumps(updating(session, update=fields)) + "\n").encode() * 1000
            for _ in range(count // 1000):
                sys.stdout.buffer.write(block)
            sys.stdout.buffer.flush()
        elif name == "raw":
            os.write(1, args[0].encode("utf-8", "surrogateescape"))
        elif name == "bytes":
            os.write(1, bytes.fromhex(args[0]))
        elif name == "big":
            chunk(session, "x" * args[0])
        elif name == "ask":
            options = [
                {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
                {"optionId": "no", "name": "Reject", "kind": "reject_once"},
            ]
            call = {"toolCallId": "call-1", "title": "do it"}
            got = request(
                "session/request_permission",
                {"sessionId": session, "toolCall": call, "options": options},
            )
            chunk(session, json.dumps(got.get("result", got.get("error"))))
        elif name == "ask_all":
            # All of them before any answer; the answers are told in the order of the questions.
            for title in args[0]:
                call = {"toolCallId": title, "title": title}
                options = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]
                params = {"sessionId": session, "toolCall": call, "options": options}
                method = "session/request_permission"
                write({"jsonrpc": "2.0", "id": title, "method": method, "params": params})
            answers = {}
            while len(answers) < len(args[0]):
                message = receive()
                if message.get("id") in args[0]:
                    answers[message["id"]] = message["result"]["outcome"]["outcome"]
                else:
                    backlog.append(message)
            chunk(session, " ".join(f"{title}: {answers[title]}" for title in args[0]))
        elif name == "ask_and_die":
            write(
                {
                    "jsonrpc": "2.0",
                    "id": "last",
                    "method": "session/request_permission",
                    "params": {
                        "sessionId": session,
                        "toolCall": {"toolCallId": "c"},
                        "options": [],
                    },
                }
            )
            time.sleep(0.3)
            os._exit(4)
        elif name == "request":
            method, params = args
            got = request(method, {"sessionId": session, **params})
            chunk(session, json.dumps(got.get("result", got.get("error"))))
        elif name == "until_answer":
            while (message := receive()).get("id") != args[0]:
                backlog.append(message)
            chunk(session, json.dumps(message))
        elif name == "stderr":
            text, times = args
            for _ in range(times):
                sys.stderr.write(text)
            sys.stderr.flush()
        elif name == "shell":
            subprocess.run(args[0], shell=True, check=True, stdin=subprocess.DEVNULL)
        elif name == "write":
            path = folders[session] / args[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(args[1])
        elif name == "sleep":
            time.sleep(args[0])
        elif name == "capabilities":
            chunk(session, json.dumps(client_capabilities))
        elif name == "ended":
            # What it was told of sessions that are over.
            chunk(session, json.dumps(ended))
        elif name == "asked":
            chunk(session, json.dumps(asked_for))
        elif name == "notify":
            method, params = args
            write({"jsonrpc": "2.0", "method": method, "params": {"sessionId": session, **params}})
        elif name == "prompt":
            chunk(session, json.dumps(prompts[session]))
        elif name == "whoami":
            chunk(session, session)
        elif name == "mcp":
            chunk(session, json.dumps(mcp_servers[session]))
        elif name == "tell_mcp":
            # To the test alone: there may be secrets in it.
            Path(args[0]).write_text(json.dumps(mcp_servers[session]))
        elif name == "env":
            chunk(session, json.dumps(dict(os.environ)))
        elif name == "until_cancel":
            while session not in cancelled:
                message = receive()
                if message.get("method") == "session/cancel":
                    cancelled.add(message["params"]["sessionId"])
                else:
                    backlog.append(message)
        elif name == "break":
            # As if a tool went on after the cancel: prompts wait for its turn from now on.
            put_off[session] = 0
        elif name == "never":
            # The turn has no end; all else is served.
            return
        elif name == "fail":
            answer(id, error=dict(zip(("code", "message", "data"), args, strict=False)))
            return
        elif name == "respond":
            answer(id, args[0] if args else {"stopReason": "end_turn"})
            id = None
        elif name == "half":
            os.write(1, b'{"jsonrpc":"2.0","id":')
            os._exit(0)
        elif name == "exit":
            os._exit(args[0])
    stop = "cancelled" if session in cancelled else "end_turn"
    cancelled.discard(session)
    if id is not None:
        answer(id, {"stopReason": stop})


def main():
    global sessions, logged_in
    can = OPTIONS["capabilities"].get("sessionCapabilities", {})
    if OPTIONS["stderr"]:
        print(OPTIONS["stderr"], file=sys.stderr, flush=True)
    for kind in OPTIONS["children"]:
        sleeper = [
            sys.executable,
            "-c",
            "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)']); time.sleep(1000)",
        ]
        subprocess.Popen(sleeper, start_new_session=kind == "setsid", stdin=subprocess.DEVNULL)
    while True:
        message = read()
        method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
        if id is not None and method:
            asked_for.append([method, params])
        if method in OPTIONS["refuse"]:
            answer(id, error={"code": -32601, "message": f"Method not found: {method}"})
        elif method in OPTIONS["ignore"]:
            continue
        elif method == "initialize":
            client_capabilities.update(params["clientCapabilities"])
            if OPTIONS["mute"]:
                continue
            if OPTIONS["close_stdin"]:
                os.close(0)
            answer(
                id,
                {
                    "protocolVersion": OPTIONS["protocol"],
                    "agentCapabilities": OPTIONS["capabilities"],
                    "agentInfo": {"name": "scripted", "version": "1"},
                    "authMethods": OPTIONS["auth_methods"],
                },
            )
            if OPTIONS["close_stdin"] or not OPTIONS["stdin"]:
                time.sleep(1000)
        elif method == "session/new":
            if OPTIONS["new_error"]:
                answer(id, error=OPTIONS["new_error"])
                continue
            if OPTIONS["login"] and not logged_in:
                answer(id, error={"code": -32000, "message": "Authentication required"})
                continue
            sessions += 1
            given = OPTIONS["session_ids"][sessions - 1 :] or [f"s{sessions}-{os.getpid()}"]
            session = OPTIONS["session_id"] or given[0]
            mcp_servers[session] = params["mcpServers"]
            folders[session] = Path(params["cwd"])
            for number in range(OPTIONS["early"]):
                chunk(session, f"early {number}")
            for early in OPTIONS["early_params"]:
                write(updating(session, **early))
            time.sleep(OPTIONS["slow_new"])
            answer(
                id,
                {"sessionId": session, **setup()},
                behind=[updating(session, update=fields) for fields in OPTIONS["behind"]],
            )
        elif method in ("session/list", "_sandboxagent/session/list"):
            page = int(params.get("cursor", "0"))
            following = {"nextCursor": str(page + 1)} if page + 1 < len(OPTIONS["listed"]) else {}
            if OPTIONS["listed"][page] is not None:
                answer(id, {"sessions": OPTIONS["listed"][page], **following})
        elif method == "_sandboxagent/session/events":
            answer(id, {"events": ["theirs"]})
        elif method == "_sandboxagent/session/set_metadata":
            answer(id, {})
        elif method in ("session/fork", "_sandboxagent/session/fork"):
            session = f"{params['sessionId']}-fork"
            mcp_servers[session] = params["mcpServers"]
            folders[session] = Path(params["cwd"])
            source = folders[session] / f".{params['sessionId']}.said"
            if source.exists():
                (folders[session] / f".{session}.said").write_text(source.read_text())
            repeat(session, 0, OPTIONS["fork_replay"])
            commands = [{"name": "forked", "description": json.dumps(params)}]
            update(session, sessionUpdate="available_commands_update", availableCommands=commands)
            answer(id, {"sessionId": session} if OPTIONS["fork_id"] else {})
        elif method in ("session/load", "session/resume"):
            if OPTIONS["login"] and not logged_in:
                answer(id, error={"code": -32000, "message": "Authentication required"})
                continue
            session = params["sessionId"]
            mcp_servers[session] = params["mcpServers"]
            folders[session] = Path(params["cwd"])
            if method == "session/load":
                repeat(session, 0, OPTIONS["replay"], OPTIONS["replay_pause"])
                for fields in OPTIONS["loaded"]:
                    update(session, **fields)
            answer(id, setup() if OPTIONS["load_setup"] else {})
            if OPTIONS["replay_late"]:
                time.sleep(OPTIONS["late_after"])
                repeat(session, OPTIONS["replay"], OPTIONS["replay_late"], OPTIONS["late_pause"])
        elif method == "_sandboxagent/session/terminate" or (
            method in ("session/close", "session/delete") and method.split("/")[1] in can
        ):
            ended.append([method, params["sessionId"]])
            answer(id, {})
        elif method == "session/prompt":
            texts = [block["text"] for block in params["prompt"] if block["type"] == "text"]
            script = next(text for text in texts if text.startswith("["))
            if params["sessionId"] in put_off:
                put_off[params["sessionId"]] += 1
                count = put_off[params["sessionId"]]
                chunk(params["sessionId"], f"Queued for the next turn. ({count} queued)")
                answer(id, {"stopReason": "end_turn"})
                continue
            remember(params["sessionId"], "user_message_chunk", script)
            prompts[params["sessionId"]] = params["prompt"]
            steps(params["sessionId"], id, json.loads(script))
        elif method == "session/set_mode":
            mode = {"sessionUpdate": "current_mode_update", "currentModeId": OPTIONS["own_mode"]}
            behind = [updating(params["sessionId"], update=mode)] if OPTIONS["own_mode"] else []
            known = params["modeId"] in [each["id"] for each in MODES["availableModes"]]
            error = None if known else {"code": -32602, "message": "There is no such mode."}
            answer(id, {}, error=error, behind=behind)
        elif method == "session/set_model":
            known = [model["modelId"] for model in (OPTIONS["models"] or {})["availableModels"]]
            if params["modelId"] in known:
                answer(id, {})
            else:
                answer(id, error={"code": -32602, "message": "There is no such model."})
        elif method == "session/set_config_option":
            if params["value"] == "refused":
                answer(id, error={"code": -32602, "message": "This choice is not for you."})
                continue
            for option in OPTIONS["options"]:
                if option["id"] == params["configId"]:
                    option["currentValue"] = params["value"]
            answer(id, {"configOptions": OPTIONS["options"]})
        elif method == "authenticate":
            time.sleep(2 if params["methodId"] == "slowly" else 0)
            logged_in = params["methodId"] in (OPTIONS["login"], "slowly")
            print(f"login with {params['methodId']}", file=sys.stderr, flush=True)
            error = {"code": -32000, "message": "That key does not fit."}
            answer(id, {}, error=None if logged_in else error)
        elif method == "logout":
            logged_in = False
            answer(id, {})
        elif method == "session/cancel":
            cancelled.discard(params["sessionId"])
        elif id is not None and method:
            answer(id, error={"code": -32601, "message": f"Method not found: {method}"})


main()
