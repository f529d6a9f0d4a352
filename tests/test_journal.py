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

import pytest

from jupyter_acp.rpc import RpcError
from jupyter_acp.sessions.journal import Journal
from jupyter_acp.sessions.log import Log
from jupyter_acp.sessions.record import SessionRecord

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
        assert len(log._recent) < 1000, "what is saved and old is still in memory"
        for after in (0, 19_000, 19_990, 20_000):
            seen, place = [], after
            while place < log.seq:
                body, place = await log.read(place, 10_000)
                seen.extend(body.split(b"\n"))
            assert seen == [message(n, 200) for n in range(after + 1, 20_001)]
        body, place = log.recent(log.seq - 10, log.seq - 5, 10**9)
        assert (place, len(body.split(b"\n"))) == (log.seq - 5, 5)


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
            journal._writer, lambda: journal._write_db.execute("PRAGMA busy_timeout=0")
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
