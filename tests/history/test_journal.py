# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The journal on its own: what is taken is there, whatever happens to the disk."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import sqlite3
import stat
import threading

import pytest

from jupyter_acp.history.journal import COMMIT_SIZE, ROOM, Journal
from jupyter_acp.history.numbered_log import IDLE_RING_SIZE, Log
from jupyter_acp.history.record import SessionRecord
from jupyter_acp.rpc import RpcError

LOG = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def opened(path):
    journal = Journal(path, LOG)
    await journal.open()
    try:
        yield journal
    finally:
        await journal.close()


def message(number, size=0):
    return b'{"n":%d,"x":"%s"}' % (number, b"x" * size)


async def everything(journal, session, after=0, size=1000):
    found = []
    while True:
        body, last = await journal.read(session, after, size)
        if last == after:
            return found
        found.extend(body.split(b"\n"))
        assert last - after == len(body.split(b"\n"))
        after = last


async def test_what_was_appended_can_be_read_from_any_place(tmp_path):
    chance = random.Random(3)
    async with opened(tmp_path / "j.sqlite") as journal:
        log = Log("s", journal)
        messages = [message(n, chance.choice((0, 10, 5000, 300_000))) for n in range(1, 400)]
        for text in messages:
            log.append(text)
            if chance.random() < 0.05:
                await journal.flush()
        await journal.flush()
        for after in (0, 1, 57, 398, 399):
            assert await everything(journal, "s", after) == messages[after:]
        for after, before, limit, newest in (
            (0, None, 10, False),
            (0, None, 10, True),
            (100, 200, 1000, False),
            (100, 200, 20, True),
            (0, 1, 10, False),
            (399, None, 10, True),
            (5000, None, 10, False),
        ):
            window = messages[after : before - 1 if before is not None else None]
            page = await journal.page("s", after=after, before=before, limit=limit, newest=newest)
            assert page == (window[-limit:] if newest else window[:limit])


async def test_memory_and_journal_together_never_have_a_gap(tmp_path):
    async with opened(tmp_path / "j.sqlite") as journal:
        log = Log("s", journal)
        for number in range(1, 20_001):
            log.append(message(number, 200))
            if number % 1000 == 0:
                await journal.flush()
        assert len(log._chunks) < 1000, "what is saved and old is still in memory"
        for after in (0, 19_000, 19_990, 20_000):
            seen, place = [], after
            while place < log.seq:
                body, place = await log.read(place, 10_000)
                seen.extend(body.split(b"\n"))
            assert seen == [message(n, 200) for n in range(after + 1, 20_001)]
        for number in range(20_001, 20_011):
            log.append(message(number, 200))
        body, place = log.recent(20_001, 20_006, 10**9)
        assert (place, body.split(b"\n")) == (
            20_006,
            [message(n, 200) for n in range(20_002, 20_007)],
        )


async def test_records_come_back_with_the_number_of_the_last_message(tmp_path):
    path = tmp_path / "deep" / "j.sqlite"
    async with opened(path) as journal:
        log = Log("s", journal)
        journal.save(SessionRecord("s", "agent", "/", title="Hello", seq=0))
        for number in range(1, 11):
            log.append(message(number))
    journal = Journal(path, LOG)
    (record,) = await journal.open()
    assert (record.id, record.title, record.seq) == ("s", "Hello", 10)
    await journal.delete("s")
    assert await journal.read("s", 0, 1000) == (b"", 0)
    await journal.close()
    journal = Journal(path, LOG)
    assert await journal.open() == []
    await journal.close()


async def test_nobody_else_can_read_it(tmp_path):
    path = tmp_path / "acp" / "j.sqlite"
    async with opened(path) as journal:
        log = Log("s", journal)
        log.append(message(1))
        await journal.flush()
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file


async def test_a_disk_that_refuses_for_a_while_loses_nothing(tmp_path, caplog):
    path = tmp_path / "j.sqlite"
    async with opened(path) as journal:
        log = Log("s", journal)
        log.append(message(1))
        await journal.flush()
        await journal._in(
            journal._writer, lambda: journal._database._write_db.execute("PRAGMA busy_timeout=0")
        )
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        for number in range(2, 100):
            log.append(message(number))
        with pytest.raises(sqlite3.OperationalError):
            await journal.flush()
        assert "will try again" in caplog.text
        log.append(message(100))
        blocker.execute("ROLLBACK")
        blocker.close()
        await journal.flush()
        assert await everything(journal, "s") == [message(n) for n in range(1, 101)]


async def test_it_is_saved_without_being_asked(tmp_path):
    async with opened(tmp_path / "j.sqlite") as journal:
        log = Log("s", journal)
        log.append(message(1))
        for _ in range(200):
            await asyncio.sleep(0.05)
            if (await journal.read("s", 0, 1000))[1] == 1:
                return
        pytest.fail("nothing was written")


async def test_saving_without_an_event_loop(tmp_path):
    path = tmp_path / "j.sqlite"
    journal = Journal(path, LOG)
    await journal.open()
    log = Log("s", journal)
    for number in range(1, 50):
        log.append(message(number))
    journal.save_now()
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT max(last) FROM segments").fetchone() == (49,)
    await journal.close()


async def test_two_servers_do_not_write_to_one_file(tmp_path, caplog):
    path = tmp_path / "j.sqlite"
    async with opened(path) as first, opened(path) as second:
        for journal, text in ((first, b'"one"'), (second, b'"two"')):
            log = Log("s", journal)
            journal.save(SessionRecord(id="s", agent="a", cwd="/"))
            log.append(text)
            await journal.flush()
        assert await everything(first, "s") == [b'"one"']
        assert await everything(second, "s") == [b'"two"']
        assert "Another server" in caplog.text
    async with opened(path) as again:
        assert await everything(again, "s") == [b'"one"']


@pytest.mark.parametrize("kind", ["newer", "garbage", "folder"])
async def test_a_file_that_cannot_be_used_is_named(tmp_path, kind):
    path = tmp_path / "j.sqlite"
    if kind == "newer":
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version=99")
    elif kind == "garbage":
        path.write_bytes(b"this is no database" * 1000)
    else:
        path.mkdir()
    with pytest.raises(RpcError, match=r"j\.sqlite.*AcpExtension\.journal"):
        await Journal(path, LOG).open()


async def test_reading_a_session_does_not_wait_for_the_end_of_anothers_flood(tmp_path):
    async with opened(tmp_path / "j.sqlite") as journal:
        busy, quiet = Log("busy", journal), Log("quiet", journal)
        quiet.append(message(1))

        async def flood():
            while True:
                for _ in range(20):
                    busy.append(message(busy.seq + 1, 200))
                await journal.room()
                await asyncio.sleep(0)

        flooding = asyncio.ensure_future(flood())
        try:
            await asyncio.sleep(0.2)
            reading = journal.page("quiet", after=0, before=None, limit=10, newest=False)
            assert await asyncio.wait_for(reading, 20) == [message(1)]
            await asyncio.wait_for(journal.flush(), 20)
        finally:
            flooding.cancel()


async def test_saving_without_an_event_loop_behind_a_commit_doubles_nothing(tmp_path):
    path = tmp_path / "j.sqlite"
    async with opened(path) as journal:
        log = Log("s", journal)
        for number in range(1, 4001):
            log.append(message(number, 200))
        journal.save(SessionRecord("s", "agent", "/"))
        journal._start_commit()
        await asyncio.sleep(0)
        assert journal._in_flight, "no commit is under way"
        # The thread commits, and the loop never gets to know: it is busy here until the end.
        journal._writer.submit(lambda: None).result()
        for number in range(4001, 4600):
            log.append(message(number, 200))
        journal.save_now()
        with contextlib.closing(sqlite3.connect(path)) as db:
            rows = db.execute("SELECT first, last, body FROM segments ORDER BY first").fetchall()
        assert [line for *_, body in rows for line in body.split(b"\n")] == [
            message(n, 200) for n in range(1, 4600)
        ]
        assert [first for first, *_ in rows[1:]] == [last + 1 for _, last, _ in rows[:-1]]


async def test_a_full_disk_makes_writers_wait_and_is_not_tried_without_pause(tmp_path, monkeypatch):
    async with opened(tmp_path / "j.sqlite") as journal:
        log, tried = Log("s", journal), 0

        def refuse(*args):
            nonlocal tried
            tried += 1
            raise sqlite3.OperationalError("database or disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(journal._database, "write", refuse)
            # Longer than any machine takes for the rest.
            patch.setattr("jupyter_acp.history.journal.RETRY_INTERVAL", 3600)
            while log.size <= ROOM:
                log.append(message(log.seq + 1, 16_000))
            for _ in range(100):
                assert not journal.keeps_up()
                await asyncio.sleep(0.001)
            waiting = asyncio.ensure_future(journal.room())
            for _ in range(600):
                if tried:
                    break
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.2)
            assert not waiting.done()
            assert tried == 1
        await journal.flush()
        await asyncio.wait_for(waiting, 30)
        assert journal.keeps_up()
        await journal.flush()
        assert len(await everything(journal, "s")) == log.seq


async def test_what_is_being_committed_counts_as_unsaved(tmp_path, monkeypatch):
    async with opened(tmp_path / "j.sqlite") as journal:
        log, go = Log("s", journal), threading.Event()
        write = journal._database.write
        monkeypatch.setattr(journal._database, "write", lambda *args: (go.wait(60), write(*args)))
        try:
            while log.size <= ROOM:
                log.append(message(log.seq + 1, 100_000))
            assert not journal.keeps_up()
            await asyncio.sleep(0)
            while journal._unsaved() <= COMMIT_SIZE:
                log.append(message(log.seq + 1, 100_000))
            assert not journal.keeps_up()
        finally:
            go.set()
        await asyncio.wait_for(journal.room(), 30)


async def test_a_journal_that_could_not_be_opened_is_let_go(tmp_path):
    path = tmp_path / "j.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version=99")
    failed = [Journal(path, LOG), Journal(path, LOG)]
    for journal in failed:
        with pytest.raises(RpcError, match=r"j\.sqlite.*newer version"):
            await journal.open()
    assert [file.name for file in tmp_path.iterdir() if "-2" in file.name] == []
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version=1")
    async with opened(path) as journal:
        assert journal._database.path == path


async def test_deleted_text_is_in_no_file_any_more(tmp_path):
    def holding(text):
        return [file.name for file in tmp_path.iterdir() if text in file.read_bytes()]

    async with opened(tmp_path / "j.sqlite") as journal:
        Log("s", journal).append(b'"TOPSECRET"')
        Log("other", journal).append(b'"harmless"')
        await journal.flush()
        assert holding(b"TOPSECRET")
        await journal.delete("s")
        assert holding(b"TOPSECRET") == []
        assert await everything(journal, "other") == [b'"harmless"']


async def test_a_huge_message_leaves_memory_when_it_is_saved(tmp_path):
    async with opened(tmp_path / "j.sqlite") as journal:
        log = Log("s", journal)
        huge = message(1, 60 * 1024 * 1024)
        for _ in range(2):
            log.append(huge)
            log.append(message(2))
            await journal.flush()
            assert sum(len(chunk.body) for chunk in log._chunks) <= IDLE_RING_SIZE
        log.append(huge)
        await journal.flush()
        assert sum(len(chunk.body) for chunk in log._chunks) <= IDLE_RING_SIZE
        assert await everything(journal, "s") == [huge, message(2), huge, message(2), huge]


async def test_what_belongs_to_no_session_is_swept_away(tmp_path):
    path = tmp_path / "j.sqlite"
    async with opened(path) as journal:
        log = Log("source", journal)
        journal.save(SessionRecord(id="source", agent="a", cwd="/"))
        log.append(b'{"sessionId":"source","text":"SECRET"}')
        await journal.flush()
        # The server dies before the fork has a record.
        await journal.copy("source", "fork")
        assert len(await everything(journal, "fork")) == 1
    async with opened(path) as journal:
        assert await everything(journal, "fork") == []
        assert len(await everything(journal, "source")) == 1
        assert set(await journal.sizes()) == {"source"}


async def test_deleted_text_that_somebody_still_reads_is_warned_of(tmp_path, caplog, monkeypatch):
    path = tmp_path / "j.sqlite"
    monkeypatch.setattr("jupyter_acp.history.database.BUSY", 0.2)
    async with opened(path) as journal:
        log = Log("s", journal)
        journal.save(SessionRecord(id="s", agent="a", cwd="/"))
        log.append(b'"text"')
        await journal.flush()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN")
        other.execute("SELECT * FROM segments").fetchall()
        await journal.delete("s")
        other.close()
    assert "Deleted text is still in the journal's log" in caplog.text
