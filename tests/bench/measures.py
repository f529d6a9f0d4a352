# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What is measured. Each measure returns rows for the table."""

import asyncio
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

import psutil
from client import frames
from clones import clones
from servers import (
    AGENT,
    HERE,
    ROOT,
    TOKEN,
    free_port,
    jupyter,
    jupyter_command,
    our_session,
    our_window,
    prompt,
    raw,
    raw_session,
)

END = b'"result":{"stopReason"'
MIB = 1024 * 1024


class Row(NamedTuple):
    """One line of the table."""

    what: str
    shown: str
    bar: str
    stretch: str
    ok: bool


def at_least(what, value, bar, stretch=None):
    return Row(what, f"{value:.2f}x", f">= {bar}x", f"{stretch}x" if stretch else "", value >= bar)


def at_most(what, value, bar, stretch=None, unit="x"):
    shown = f"{value:.3f}x" if unit == "x" else f"{value:.1f} {unit}"
    end = "x" if unit == "x" else f" {unit}"
    return Row(what, shown, f"<= {bar}{end}", f"{stretch}{end}" if stretch else "", value <= bar)


def repeat(quick):
    return range(1 if quick else 5)


def texts(data):
    """The texts of the chunks in what was read, and the messages' numbers where they have one."""
    for frame in frames(data):
        for line in frame.split(b"\n"):
            if b"agent_message_chunk" in line:
                params = json.loads(line)["params"]
                seq = params.get("_meta", {}).get("jupyter-acp", {}).get("seq")
                yield params["update"]["content"]["text"], seq


def turn(server, client, session, command):
    """Run a turn; return its time, the server's CPU for it, and the bytes received."""
    cpu, start = server.cpu(), time.perf_counter()
    prompt(client, session, command)
    data = client.bytes_until(END)
    return time.perf_counter() - start, server.cpu() - cpu, data


def flood(quick):
    """Throughput and CPU against the baseline."""
    count = 20_000
    speed, cpu = [], []
    with raw() as baseline, jupyter() as ours:
        theirs, mine = raw_session(baseline), our_session(ours)
        for session in (theirs, mine):
            turn(ours, *session, f"flood {count} 200")
        for _ in repeat(quick):
            # CPU is counted in ticks of 10 ms: several turns make a figure of it.
            raw_runs = [turn(baseline, *theirs, f"flood {count} 200") for _ in range(4)]
            our_runs = [turn(ours, *mine, f"flood {count} 200") for _ in range(4)]
            for _, _, data in our_runs:
                numbers = [int(text.split()[0]) for text, _ in texts(data)]
                assert numbers == list(range(count)), "updates were lost, doubled or reordered"
            speed.append(sum(r[0] for r in raw_runs) / sum(r[0] for r in our_runs))
            cpu.append(sum(r[1] for r in our_runs) / sum(r[1] for r in raw_runs))
    return [
        at_least("throughput, 20,000 updates to one window", statistics.median(speed), 5, 10),
        at_most("server CPU per message", statistics.median(cpu), 0.15, 0.08),
    ]


def latencies(client, session, count, rate):
    """The time from the agent's write to here, for each of a paced turn's messages."""
    prompt(client, session, f"paced {count} {rate}")
    found = []
    for line in client.messages():
        now = time.monotonic_ns()
        start = line.find(b"t=")
        if b"agent_message_chunk" in line and start > 0:
            found.append((now - int(line[start + 2 : line.index(b'"', start)])) / 1e6)
        elif END in line:
            return statistics.median(found)
    raise ConnectionError("closed")


def paced(quick):
    """Latency of a stream at reading speed."""
    ratios = []
    with raw() as baseline, jupyter() as ours:
        theirs, mine = raw_session(baseline), our_session(ours)
        for session in (theirs, mine):
            latencies(*session, 50, 200)
        count = 150 if quick else 300
        for _ in repeat(quick):
            raw_p50 = latencies(*theirs, count, 200)
            ratios.append(latencies(*mine, count, 200) / raw_p50)
    return [at_most("latency p50 at 200/s", statistics.median(ratios), 1.5, 1.1)]


def neighbour(quick):
    """A quiet session's latency while another one floods."""
    ratios = []
    agents = {"load": {"argv": AGENT}, "quiet": {"argv": AGENT}}
    with jupyter(agents=agents) as ours:
        client, session = our_session(ours, agent="quiet")
        latencies(client, session, 50, 200)
        count = 150 if quick else 300
        for _ in repeat(quick):
            quiet = latencies(client, session, count, 200)
            noise = subprocess.Popen(
                [sys.executable, str(HERE / "noise.py"), str(ours.port), ours.folder]
            )
            time.sleep(0.5)
            try:
                ratios.append(latencies(client, session, count, 200) / quiet)
            finally:
                noise.terminate()
                noise.wait()
                time.sleep(0.5)
    return [at_most("another session's p50 while one floods", statistics.median(ratios), 2)]


def line(server, session, size):
    """The time that one long line takes, of several in a row."""
    return statistics.median(turn(server, *session, f"line {size}")[0] for _ in range(5))


def long_lines(quick):
    """One line of ten megabytes, and whether the cost grows with the length only."""
    against_raw, growth = [], []
    with raw() as baseline, jupyter() as ours:
        theirs, mine = raw_session(baseline), our_session(ours)
        for _ in repeat(quick):
            raw_time = line(baseline, theirs, 10_000_000)
            against_raw.append(line(ours, mine, 10_000_000) / raw_time)
            half = line(ours, mine, 2_500_000)
            growth.append(line(ours, mine, 5_000_000) / half)
    return [
        at_most("a line of 10 MB", statistics.median(against_raw), 3),
        at_most("5 MB against 2.5 MB", statistics.median(growth), 2.5),
    ]


def get(server, path):
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/acp/{path}", headers={"Authorization": f"token {TOKEN}"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


def wait_idle(server, session, timeout=300):
    end = time.monotonic() + timeout
    while get(server, f"sessions/{session}")["state"] != "idle":
        assert time.monotonic() < end, "the turn did not end"
        time.sleep(0.1)


class Peak:
    """The most memory that a server held while something ran."""

    def __init__(self, server):
        self.server = server
        self.base = self.peak = server.memory()
        self._stop = threading.Event()

    def __enter__(self):
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _watch(self):
        while not self._stop.wait(0.05):
            self.peak = max(self.peak, self.server.memory())

    @property
    def grown(self):
        return (self.peak - self.base) / MIB


def deaf(quick):
    """A window that stops reading."""
    rows = []
    for megabytes in (40,) if quick else (40, 200):
        with jupyter() as ours:
            client, session = our_session(ours)
            turn(ours, client, session, "flood 2000 200")
            with Peak(ours) as memory:
                prompt(client, session, f"flood {megabytes * 5000} 200")
                time.sleep(0.5)
                wait_idle(ours, session)
                time.sleep(3)
            rows.append(at_most(f"memory for {megabytes} MB unread", memory.grown, 16, unit="MB"))
    return rows


def million(quick):
    """A million updates to one window that may be dropped and comes back."""
    count = 100_000 if quick else 1_000_000
    with jupyter() as ours:
        client, session = our_session(ours)
        turn(ours, client, session, "flood 2000 200")
        start = get(ours, f"sessions/{session}")["seq"]
        with Peak(ours) as memory:
            numbers, seqs = follow(ours, client, session, start, f"flood {count} 200")
    lost = count - len(set(numbers))
    doubled = len(numbers) - len(set(numbers))
    ordered = numbers == sorted(numbers) and seqs == sorted(set(seqs))
    return [
        Row(
            f"{count:,} updates: lost / doubled",
            f"{lost} / {doubled}",
            "0 / 0",
            "",
            lost == doubled == 0 and ordered,
        ),
        at_most("memory meanwhile", memory.grown, 32, unit="MB"),
    ]


def follow(ours, client, session, last, command, drop=lambda: False):
    """Run a turn to its end over as many connections as it takes."""
    numbers, seqs = [], []
    prompt(client, session, command)
    while True:
        try:
            for line in client.messages():
                if b"agent_message_chunk" in line:
                    params = json.loads(line)["params"]
                    last = params["_meta"]["jupyter-acp"]["seq"]
                    seqs.append(last)
                    numbers.append(int(params["update"]["content"]["text"].split()[0]))
                elif b'"_jupyter/session/state"' in line:
                    params = json.loads(line)["params"]
                    last = params["_meta"]["jupyter-acp"]["seq"]
                    if params["state"] == "idle":
                        return numbers, seqs
                if drop():
                    break
        except OSError:
            pass
        client.close()
        client = our_window(ours)
        client.request("_jupyter/session/attach", {"sessionId": session, "after": last})


def disconnects(quick):
    """A hundred lost connections in one turn, some so long that the ring has moved on."""
    chance = random.Random(1)
    count = 20_000
    left = 20 if quick else 100
    dropped = 0

    def drop():
        nonlocal left, dropped
        if left and chance.random() < 1 / 150:
            left -= 1
            dropped += 1
            if chance.random() < 0.2:
                time.sleep(0.3)
            return True
        return False

    with jupyter() as ours:
        client, session = our_session(ours)
        numbers, seqs = follow(ours, client, session, 0, f"flood {count} 200", drop)
    lost = count - len(set(numbers))
    doubled = len(numbers) - len(set(numbers))
    disorder = sum(a >= b for a, b in zip(seqs, seqs[1:], strict=False))
    return [
        Row(
            f"{dropped} disconnects: lost / doubled / reordered",
            f"{lost} / {doubled} / {disorder}",
            "0 / 0 / 0",
            "",
            lost == doubled == disorder == 0 and dropped >= (10 if quick else 50),
        )
    ]


def sudden_end(quick):
    """What a `kill -9` of the server takes with it: the time between its last saved message and it."""
    lost = []
    for _ in repeat(quick):
        with jupyter() as ours:
            client, session = our_session(ours)
            prompt(client, session, "paced 10000 1000")
            end = time.monotonic() + 1 + random.random() / 2
            while time.monotonic() < end:
                client.socket.recv(1 << 20)
            ours.process.kill()
            killed = time.monotonic_ns()
            ours.process.wait()
            path = Path(ours.folder) / "journal.sqlite"
            with sqlite3.connect(path) as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            last = [line for line in read_journal(path, session) if b"t=" in line][-1]
            start = last.index(b"t=") + 2
            lost.append((killed - int(last[start : last.index(b'"', start)])) / 1e6)
    return [at_most("kill -9: what is lost of the end", max(lost), 200, unit="ms")]


def start_up(quick):
    """The CPU of a server's start, with the extension and without."""

    def cpu(extension):
        with tempfile.TemporaryDirectory() as folder:
            port = free_port()
            command, environment = jupyter_command(folder, port, extension)
            process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
            try:
                url = f"http://127.0.0.1:{port}/api/status?token={TOKEN}"
                for _ in range(600):
                    try:
                        urllib.request.urlopen(url, timeout=5).close()
                        break
                    except OSError:
                        time.sleep(0.05)
                times = psutil.Process(process.pid).cpu_times()
                return times.user + times.system
            finally:
                process.terminate()
                process.wait()

    cpu(True), cpu(False)
    ratios = []
    for _ in repeat(quick):
        without = cpu(False)
        ratios.append(cpu(True) / without)
        # The other way round as well: a machine that gets busier must favour neither.
        ratios.append(cpu(True) / cpu(False))
    return [at_most("CPU of a server's start, with / without", statistics.median(ratios), 1.05)]


def idle(quick):
    """What a session costs when nothing happens in it."""
    count = 20 if quick else 200
    with jupyter() as ours:
        client = our_window(ours)
        make = {"cwd": ours.folder, "mcpServers": []}

        def session():
            id = client.ask("session/new", make)["sessionId"]
            prompt(client, id, "flood 500 200")
            client.bytes_until(END)

        for _ in range(5):
            session()
        time.sleep(1)
        before = ours.memory()
        for _ in range(count):
            session()
        time.sleep(1)
        each = (ours.memory() - before) / count / 1024
    return [at_most("an idle session", each, 256, unit="KiB")]


def attach(quick):
    """Opening a session of a hundred thousand messages."""
    count = 20_000 if quick else 100_000
    first, whole, rows_only = [], [], []
    with jupyter() as ours:
        client, session = our_session(ours)
        turn(ours, client, session, f"flood {count} 200")
        time.sleep(0.5)
        last = get(ours, f"sessions/{session}")["seq"]
        plain = Path(ours.folder) / "plain.sqlite"
        messages = read_journal(Path(ours.folder) / "journal.sqlite", session)
        with sqlite3.connect(plain) as db:
            db.execute(
                "CREATE TABLE messages (session TEXT, seq INTEGER, body BLOB, PRIMARY KEY (session, seq))"
            )
            db.executemany(
                "INSERT INTO messages VALUES (?, ?, ?)",
                [(session, number, body) for number, body in enumerate(messages, 1)],
            )
        for _ in repeat(quick):
            window = our_window(ours)
            start = time.perf_counter()
            window.request("_jupyter/session/attach", {"sessionId": session, "after": last - 200})
            window.bytes_until(b'"seq":%d' % last + b"}")
            first.append((time.perf_counter() - start) * 1000)
            window.close()
            start = time.perf_counter()
            with sqlite3.connect(plain) as db:
                got = db.execute(
                    "SELECT body FROM messages WHERE session=? ORDER BY seq", (session,)
                ).fetchall()
            rows_only.append(time.perf_counter() - start)
            assert len(got) == last
            window = our_window(ours)
            start = time.perf_counter()
            window.request("_jupyter/session/attach", {"sessionId": session, "after": 0})
            data = window.bytes_until(b'"seq":%d' % last + b"}")
            whole.append((time.perf_counter() - start) / rows_only[-1])
            assert sum(1 for _ in texts(data)) == count
            window.close()
    return [
        at_most("attach: the last 200 messages", statistics.median(first), 100, unit="ms"),
        at_most(f"attach: all {count:,} / reading as many rows", statistics.median(whole), 1.5),
    ]


def read_journal(path, session):
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT body FROM segments WHERE session=? ORDER BY first", (session,))
        return [line for (body,) in rows for line in body.split(b"\n")]


def workspace(quick):
    """What an agent waits for when it asks about a very full workspace."""

    def document(number):
        cell = {"id": f"cell-{number}", "index": number % 100, "type": "code"}
        return {
            "path": f"a folder/of some depth/notebook-{number}.ipynb",
            "languageId": "python",
            "kind": "notebook",
            "dirty": False,
            "cell": cell,
            "cursor": {"line": 10, "character": 5},
            "kernel": {"name": "python3", "state": "idle"},
        }

    worst = {}
    with jupyter() as ours:
        client, session = our_session(ours)
        documents = [document(number) for number in range(500)]
        recents = [
            {"path": f"a folder/file-{number}.py", "languageId": "python", "kind": "file"}
            for number in range(10_000)
        ]
        state = {"window": "page", "full": True, "documents": documents, "recents": recents}
        active = {"active": documents[0]["path"], "focused": True}
        client.send(
            {"jsonrpc": "2.0", "method": "_jupyter/workspace/update", "params": {**state, **active}}
        )
        for name in ("open", "recent", "active"):
            method = f"workspace/{name}_document" + ("" if name == "active" else "s")
            times = []
            for _ in repeat(quick):
                # A cursor has moved: the answer cannot be the one from before.
                news = {"window": "page", "documents": documents[:1]}
                client.send(
                    {"jsonrpc": "2.0", "method": "_jupyter/workspace/update", "params": news}
                )
                data = turn(ours, client, session, f"ask {method} 10")[2]
                times += [json.loads(text) for text, _ in texts(data)][-1]
            worst[name] = statistics.median(times) / 1e6
    return [
        at_most(f"workspace, 500 open, 10,000 recent: {name}", worst[name], 5, unit="ms")
        for name in worst
    ]


def processes(quick):
    """Agents with grandchildren, started and stopped again and again."""
    cycles = 10 if quick else 100
    sys.path.insert(0, str(ROOT))
    from jupyter_acp.agents.process import MARK, AgentProcess

    family = json.dumps({"children": ["plain", "setsid"], "ignore_eof": True})
    argv = [sys.executable, str(HERE.parent / "support" / "agent_programs" / "scripted.py"), family]
    left = 0

    async def cycle():
        nonlocal left
        process = await AgentProcess.start(argv, env=dict(os.environ), grace=1)
        end = time.monotonic() + 5
        while len(carrying(MARK, process._mark)) < 5 and time.monotonic() < end:
            await asyncio.sleep(0.02)
        await process.stop()
        end = time.monotonic() + 5
        while (rest := carrying(MARK, process._mark)) and time.monotonic() < end:
            await asyncio.sleep(0.1)
        left += len(rest)

    async def all_cycles():
        for _ in range(cycles):
            await cycle()

    asyncio.run(all_cycles())
    return [Row(f"{cycles} starts and stops: processes left", str(left), "0", "", left == 0)]


def page(quick):
    """The chat in a real browser."""
    browser = ROOT / "tests" / "browser"
    with jupyter(lab=True) as ours:
        chromium = subprocess.run([browser / "chromium"], cwd=browser, stdout=subprocess.PIPE)
        script = ["node", str(HERE / "page.mjs"), f"http://127.0.0.1:{ours.port}", TOKEN]
        done = subprocess.run(
            [*script, "quick" if quick else "full"],
            env={**os.environ, "CHROMIUM": chromium.stdout.decode().strip()},
            stdout=subprocess.PIPE,
            check=True,
        )
    figures = json.loads(done.stdout)
    flood, answer, long = figures["flood"], figures["answer"], figures["long"]
    return [
        at_most("10,000 chunks shown, against the socket alone", flood["ratio"], 2),
        at_most("... on the wire", flood["wire"] / MIB, 3, unit="MB"),
        at_most("... longest block of the main thread", flood["longest"], 100, unit="ms"),
        at_least(
            "frames while typing under a streamed answer, against idle",
            answer["streaming"] / answer["idle"],
            0.9,
        ),
        at_most("... longest block of the main thread", answer["longest"], 100, unit="ms"),
        at_most(
            "main thread for it, against rendering it whole", answer["ours"] / answer["naive"], 0.5
        ),
        at_most("session of 10,000 messages opens", long["open"], 1000, unit="ms"),
        at_most("... longest block while scrolling", long["longest"], 100, unit="ms"),
    ]


def carrying(name, mark):
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(name) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            pass
    return found


ALL = {
    measure.__name__: measure
    for measure in (
        flood,
        paced,
        neighbour,
        long_lines,
        deaf,
        million,
        disconnects,
        sudden_end,
        start_up,
        idle,
        attach,
        workspace,
        processes,
        clones,
        page,
    )
}
