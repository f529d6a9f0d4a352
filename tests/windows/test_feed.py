# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a window is sent, on its own: the order of logs and answers, and windows that lag behind."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3

import pytest

from jupyter_acp.history.journal import Journal
from jupyter_acp.history.numbered_log import IDLE_RING_SIZE, Log
from jupyter_acp.rpc.outbox import BATCH_SIZE, Flusher, Queue
from jupyter_acp.windows import feed as feeds
from jupyter_acp.windows.feed import Feed

LOG = logging.getLogger(__name__)
OURS = b'{"method":"_jupyter/'
LIMIT = 1024 * 1024


@pytest.fixture
def journal(tmp_path, jp_asyncio_loop):
    journal = Journal(tmp_path / "j.sqlite", LOG)
    jp_asyncio_loop.run_until_complete(journal.open())
    yield journal
    jp_asyncio_loop.run_until_complete(journal.close())


class Wire:
    """A socket: it takes everything at once, or nothing until it is told to."""

    def __init__(self):
        self.messages = []
        self.failure = None
        self.stalled = False
        self.slow = None

    def write(self, batch):
        self.messages.extend(batch.split(b"\n"))
        return self.slow

    def fail(self, error):
        self.failure = error

    def stall(self):
        self.stalled = True

    async def until(self, wanted):
        for _ in range(1000):
            if wanted in self.messages:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"{wanted!r} was never sent, only {len(self.messages)} messages")


def feed_to(wire, **options):
    feed = Feed(limit=LIMIT, on_stalled=wire.stall, **options)
    feed.start(wire.write, wire.fail)
    return feed


def message(number, size=0):
    return b'{"n":%d,"x":"%s"}' % (number, b"x" * size)


def fill(log, count, size=0):
    for _ in range(count):
        log.append(message(log.seq + 1, size))


async def forgotten(journal, log):
    """Save a log and make sure that its beginning has left memory."""
    await journal.flush()
    assert log.recent(0, None, 1) is None
    return log


def gate(log, monkeypatch):
    """Make the journal slow; return what lets it go on and what says that it was asked."""
    read, go, asked = log.read, asyncio.Event(), asyncio.Event()

    async def slow(*args):
        asked.set()
        await go.wait()
        return await read(*args)

    monkeypatch.setattr(log, "read", slow)
    return go, asked


async def test_what_a_filter_leaves_nothing_of_does_not_hold_up_what_follows(journal):
    log, wire = Log("s", journal), Wire()
    log.append(message(1))
    for number in range(2, 300):
        log.append(b'%s","n":%d,"x":"%s"}' % (OURS, number, b"x" * 2000))
    assert log.size > 2 * BATCH_SIZE
    log.append(message(300))
    feed = feed_to(wire, keep=lambda line: not line.startswith(OURS))
    feed.follow("s", log, 1)
    feed.put(b'"response"', "s")
    await wire.until(b'"response"')
    assert wire.messages == [message(300), b'"response"']


async def test_a_log_is_the_same_wherever_it_is_read_from(journal):
    log = Log("s", journal)
    for count in (1, 7, 0, 1, 30):
        if count:
            log.append_updates([{"n": log.seq + 1 + n, "x": "100 %d"} for n in range(count)])
        log.append(message(log.seq + 1))
    whole, last = log.recent(0, None, LIMIT)
    lines = whole.split(b"\n")
    assert last == log.seq == len(lines) == 44
    for number, line in enumerate(lines, 1):
        found = json.loads(line)
        if "params" in found:
            assert found["method"] == "session/update"
            assert found["params"] == {
                "sessionId": "s",
                "_meta": {"jupyter-acp": {"seq": number}},
                "update": {"n": number, "x": "100 %d"},
            }
        else:
            assert found["n"] == number
    await journal.flush()
    for after in range(last):
        assert await journal.read("s", after, LIMIT) == log.recent(after, None, LIMIT)
        for upto in range(after + 1, last + 1):
            assert log.recent(after, upto, LIMIT) == (b"\n".join(lines[after:upto]), upto)


@pytest.mark.parametrize("saved", [False, True])
async def test_more_than_one_batch_that_a_filter_leaves_nothing_of_from_the_journal(journal, saved):
    log, wire = Log("s", journal), Wire()
    for number in range(1, 1000):
        log.append(b'%s","n":%d,"x":"%s"}' % (OURS, number, b"x" * 2000))
    if saved:
        await forgotten(journal, log)
    feed = feed_to(wire, keep=lambda line: not line.startswith(OURS))
    feed.follow("s", log, 0)
    feed.put(b'"response"', "s")
    await wire.until(b'"response"')
    log.append(message(1000))
    await wire.until(message(1000))


async def test_an_aside_put_while_the_journal_is_read_keeps_its_place(journal, monkeypatch):
    log, wire = Log("s", journal), Wire()
    fill(log, 3, IDLE_RING_SIZE)
    await forgotten(journal, log)
    go, asked = gate(log, monkeypatch)
    feed = feed_to(wire)
    feed.follow("s", log, 0)
    await asked.wait()
    feed.put(b'"question"', "s")
    log.append(b'"resolved"')
    fill(log, 1, IDLE_RING_SIZE + 1000)
    await journal.flush()
    go.set()
    await wire.until(message(5, IDLE_RING_SIZE + 1000))
    past = [message(number, IDLE_RING_SIZE) for number in range(1, 4)]
    last = message(5, IDLE_RING_SIZE + 1000)
    assert wire.messages == [*past, b'"question"', b'"resolved"', last]


async def test_following_again_does_not_let_an_answer_overtake_its_log(journal):
    log, wire = Log("s", journal), Wire()
    fill(log, 3)
    feed = Feed(limit=LIMIT, on_stalled=wire.stall)
    feed.follow("s", log, 0)
    feed.put(b'"response"', "s")
    log.append(b'"later"')
    feed.follow("s", log, 0)
    feed.start(wire.write, wire.fail)
    await wire.until(b'"later"')
    assert wire.messages == [message(1), message(2), message(3), b'"response"', b'"later"']


async def test_following_again_while_the_journal_is_read_doubles_nothing(journal, monkeypatch):
    log, wire = Log("s", journal), Wire()
    fill(log, 40, 10_000)
    await forgotten(journal, log)
    go, asked = gate(log, monkeypatch)
    feed = feed_to(wire)
    feed.follow("s", log, 0)
    await asked.wait()
    feed.put(b'"response"', "s")
    feed.follow("s", log, 10)
    go.set()
    await wire.until(b'"response"')
    assert wire.messages == [*(message(n, 10_000) for n in range(11, 41)), b'"response"']


async def test_what_was_put_into_a_lane_survives_its_end(journal, monkeypatch):
    log, wire = Log("s", journal), Wire()
    fill(log, 40, 10_000)
    await forgotten(journal, log)
    _, asked = gate(log, monkeypatch)
    feed = feed_to(wire)
    feed.follow("s", log, 0)
    await asked.wait()
    feed.put(b'"response"', "s")
    feed.unfollow("s")
    await wire.until(b'"response"')
    assert wire.messages == [b'"response"'] and wire.failure is None


async def test_a_session_deleted_while_a_window_lags_behind_does_not_end_the_feed(
    journal, monkeypatch
):
    log, other, wire = Log("s", journal), Log("other", journal), Wire()
    fill(log, 40, 10_000)
    await forgotten(journal, log)
    go, asked = gate(log, monkeypatch)
    feed = feed_to(wire)
    feed.follow("s", log, 0)
    feed.follow("other", other, 0)
    await asked.wait()
    await journal.delete("s")
    go.set()
    await asyncio.sleep(0.1)
    feed.unfollow("s")
    fill(other, 1)
    await wire.until(message(1))
    assert wire.messages == [message(1)] and wire.failure is None


async def test_a_journal_that_cannot_be_read_ends_the_feed_with_the_reason(journal, monkeypatch):
    log, wire = Log("s", journal), Wire()
    fill(log, 40, 10_000)
    await forgotten(journal, log)

    async def broken(*args):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(log, "read", broken)
    feed_to(wire).follow("s", log, 0)
    for _ in range(500):
        if wire.failure is not None:
            break
        await asyncio.sleep(0.01)
    assert "disk I/O error" in str(wire.failure)


async def test_a_lagging_window_is_not_dropped_for_what_was_there_before(journal, monkeypatch):
    monkeypatch.setattr(feeds, "STALL", 0.05)
    first, large, wire = Log("first", journal), Log("large", journal), Wire()
    fill(first, 1)
    while large.size <= 2 * LIMIT:
        fill(large, 1, 10_000)
    wire.slow = asyncio.get_running_loop().create_future()
    feed = feed_to(wire)
    feed.follow("first", first, 0)
    await wire.until(message(1))
    feed.follow("large", large, 0)
    await asyncio.sleep(0.4)
    assert not wire.stalled
    slow, wire.slow = wire.slow, None
    slow.set_result(None)
    await wire.until(message(large.seq, 10_000))
    feed.close()


async def test_a_window_that_takes_nothing_of_what_is_new_is_dropped(journal, monkeypatch):
    monkeypatch.setattr(feeds, "STALL", 0.05)
    log, wire = Log("s", journal), Wire()
    fill(log, 1)
    wire.slow = asyncio.get_running_loop().create_future()
    feed = feed_to(wire)
    feed.follow("s", log, 0)
    await wire.until(message(1))
    while log.size <= 2 * LIMIT:
        fill(log, 1, 10_000)
    for _ in range(500):
        if wire.stalled:
            break
        await asyncio.sleep(0.01)
    assert wire.stalled
    feed.close()


async def test_unread_answers_in_a_lane_make_whoever_asks_wait(journal):
    log, wire = Log("s", journal), Wire()
    feed = Feed(limit=LIMIT, on_stalled=wire.stall)
    feed.follow("s", log, 0)
    fill(log, 1)
    for _ in range(20):
        feed.put(b"x" * (LIMIT // 10), "s")
    assert feed.full
    waiting = asyncio.ensure_future(feed.room())
    await asyncio.sleep(0.05)
    assert not waiting.done()
    feed.start(wire.write, wire.fail)
    await asyncio.wait_for(waiting, 10)
    assert not feed.full and len(wire.messages) == 21


async def test_an_outbox_that_raises_does_not_silence_the_others():
    flusher, sent, failures = Flusher(), [], []
    broken, fine = Queue(flusher=flusher), Queue(flusher=flusher)

    def raising(batch):
        raise RuntimeError("a bad window")

    broken.start(raising, failures.append)
    fine.start(sent.append, failures.append)
    for number in (b"1", b"2"):
        broken.put(number)
        fine.put(number)
        flusher.flush()
    for _ in range(500):
        if len(sent) == 2 and failures:
            break
        await asyncio.sleep(0.01)
    assert sent == [b"1", b"2"]
    assert [str(error) for error in failures] == ["a bad window"]
