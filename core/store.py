"""The database: short plain functions, each in one transaction, and nothing awaited inside.

`write(fn)` runs `fn(tx)` and resolves after the commit. On SQLite one thread has the one writing connection (WAL,
`synchronous=FULL`, BEGIN IMMEDIATE) and drains a queue: functions that wait together share one COMMIT, each in a
SAVEPOINT of its own, so that one that raises takes nothing of the others with it. On PostgreSQL the same functions
run in a small thread pool, a transaction each, tried again where the database asks for it (serialization, deadlock).
A function must therefore do nothing but read and write through `tx`: it may run twice. `tx.after` is for what
follows the commit.

`read(fn)` runs `fn(tx)` on a consistent snapshot that refuses to write.

`watch` is told of each commit right before and right after it, on the thread that makes it: a test ends the process at
exactly that point.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from core.errors import HandonError
from core.sql import Params, Statement

log = logging.getLogger(__name__)

SHARED_COMMIT = 256  # functions one COMMIT of SQLite's may carry
THREADS = 8
TRIES = 5  # of one function on PostgreSQL
STALLED = 60.0  # seconds between two statements of a transaction, after which PostgreSQL undoes it

T = TypeVar("T")
AnySession = TypeVar("AnySession", bound=Session)


class Tx:
    """One running transaction, as a function sees it. `now` is the same throughout, in microseconds."""

    def __init__(self, connection: Connection, now: int, dialect: str) -> None:
        self.connection = connection
        self.now = now
        self.dialect = dialect
        self.sqlite = dialect == "sqlite"
        self._cursor: Any = _raw(connection).cursor()
        self._session: Session | None = None
        self._after: list[Callable[[], None]] = []
        self._flushers: list[Callable[[Tx], None]] = []
        self._before: list[Callable[[Tx], None]] = []
        self._later: dict[Statement, list[Params]] = {}
        self._savepoints = 0
        self.held: dict[Any, Any] = {}  # what verbs keep for the length of this transaction

    def _execute(self, statement: Statement, params: Params) -> Any:
        text, fixed = statement.on(self.dialect)
        self._cursor.execute(text, {**fixed, **params} if fixed else params)
        return self._cursor

    def all(self, statement: Statement, **params: Any) -> list[Any]:
        return list(map(statement.make, self._execute(statement, params).fetchall()))

    def one(self, statement: Statement, **params: Any) -> Any:
        """The first row, or None."""
        found = self._execute(statement, params).fetchone()
        return None if found is None else statement.make(found)

    def run(self, statement: Statement, **params: Any) -> int:
        """Execute; answers how many rows were touched."""
        return int(self._execute(statement, params).rowcount)

    def many(self, statement: Statement, rows: Sequence[Params]) -> None:
        if len(rows) == 1:
            self._execute(statement, rows[0])
        elif rows:
            text, fixed = statement.on(self.dialect)
            self._cursor.executemany(text, [{**fixed, **row} for row in rows] if fixed else rows)

    @property
    def session(self) -> Session:
        """The app's ORM session in this very transaction: kept with it, or undone with it."""
        if self._session is None:
            session = self._session = self.new_session(Session)
            self.before_end(lambda _: session.commit())
        return self._session

    def new_session(self, kind: type[AnySession]) -> AnySession:
        """A session in a savepoint of its own: its commit and rollback end that, and never this transaction."""
        if not self.connection.in_transaction():
            self.connection.begin()  # SQLite: the transaction is there; SQLAlchemy is told of it only where it is used
        return kind(bind=self.connection, join_transaction_mode="create_savepoint", expire_on_commit=False)

    def after(self, callback: Callable[[], None]) -> None:
        """Call this on the event loop once the transaction is committed; never where it is not."""
        self._after.append(callback)

    def later(self, statement: Statement, **row: Any) -> None:
        """Insert this row last in the transaction, together with others of its kind."""
        self._later.setdefault(statement, []).append(row)

    def on_flush(self, callback: Callable[[Tx], None]) -> None:
        """Call this whenever what is gathered has to be written."""
        self._flushers.append(callback)

    def flush(self) -> None:
        """Write what is gathered now: what is asked next must see it."""
        for callback in self._flushers:
            callback(self)
        later, self._later = self._later, {}
        for statement, rows in later.items():
            self.many(statement, rows)

    def before_end(self, callback: Callable[[Tx], None]) -> None:
        """Call this last in the transaction: for what is gathered and written at once."""
        self._before.append(callback)

    @contextlib.contextmanager
    def savepoint(self) -> Iterator[None]:
        """Whatever raises inside takes only what was written inside with it."""
        self._savepoints += 1
        name = f"inner{self._savepoints}"
        self._cursor.execute(f"SAVEPOINT {name}")
        try:
            yield
        except BaseException:
            self._cursor.execute(f"ROLLBACK TO SAVEPOINT {name}")
            self._cursor.execute(f"RELEASE SAVEPOINT {name}")
            raise
        self._cursor.execute(f"RELEASE SAVEPOINT {name}")

    def end(self) -> list[Callable[[], None]]:
        self.flush()
        for callback in self._before:
            callback(self)
        self.close()
        return self._after

    def close(self) -> None:
        self._cursor.close()
        if self._session is not None:
            self._session.close()
            self._session = None


Job = tuple[Callable[[Tx], Any], "asyncio.Future[Any]"]
Watch = Callable[[str, int], None]  # ("before" or "after", the number of the commit, from 1)


class StoreClosed(HandonError):
    """The agency is not open: use it inside `async with agency:`."""


class Store:
    """Opens a database and runs functions in it. `clock_now` answers microseconds."""

    def __init__(self, url: str, clock_now: Callable[[], int]) -> None:
        self.url = make_url(url)
        self.dialect = self.url.get_backend_name()
        if self.dialect not in ("sqlite", "postgresql"):
            raise HandonError(f"Handon keeps its rows in SQLite or PostgreSQL, not in {self.dialect}.")
        self._now = clock_now
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._write_engine: Engine | None = None
        self._read_engine: Engine | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writing: set[asyncio.Future[Any]] = set()
        self._kept = threading.local()
        self.commits = 0
        self.shared_commit = SHARED_COMMIT
        self.stalled_after = STALLED
        self.watch: Watch | None = None
        self._numbers = itertools.count(1)

    @property
    def sqlite(self) -> bool:
        return self.dialect == "sqlite"

    def open(self, prepare: Callable[[Connection], None]) -> None:
        """Connect, and run `prepare` in one transaction before anything else: migrations."""
        self._loop = asyncio.get_running_loop()
        if self.sqlite:
            if self.url.database in (None, "", ":memory:"):
                raise HandonError("Work survives restarts, so it needs a file: sqlite:///handon.db, not memory.")
            self._write_engine = _sqlite_engine(self.url.render_as_string(hide_password=False), writes=True)
            self._read_engine = _sqlite_engine(self.url.render_as_string(hide_password=False), writes=False)
        else:
            engine = _postgresql_engine(self.url, self.stalled_after)
            self._write_engine = engine
            self._read_engine = engine.execution_options(postgresql_readonly=True, isolation_level="REPEATABLE READ")
        with self._write_engine.begin() as connection:
            prepare(connection)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="handon-store")
        if self.sqlite:
            self._writer = threading.Thread(target=self._drain, name="handon-writer", daemon=True)
            self._writer.start()

    async def close(self) -> None:
        """Let what was asked for be committed, then let go of the database."""
        if self._writing:
            await asyncio.gather(*self._writing, return_exceptions=True)
        if self._writer is not None:
            self._jobs.put(None)
            await asyncio.to_thread(self._writer.join)
            self._writer = None
        if self._threads is not None:
            self._threads.shutdown(wait=True)
            self._threads = None
        for engine in (self._write_engine, self._read_engine):
            if engine is not None:
                engine.dispose()
        self._write_engine = self._read_engine = None

    async def write(self, fn: Callable[[Tx], T]) -> T:
        """Run `fn` in one transaction; answers what it answers, after the commit. Once asked for, it is carried
        through even where whoever awaits it is cancelled."""
        if self._threads is None or self._loop is None:
            raise StoreClosed("The agency is not open: use it inside `async with agency:`.")
        future: asyncio.Future[T] = self._loop.create_future()
        self._writing.add(future)
        future.add_done_callback(self._writing.discard)
        if self.sqlite:
            self._jobs.put((fn, future))
        else:
            self._threads.submit(self._write_alone, fn, future)
        return await asyncio.shield(future)

    async def read(self, fn: Callable[[Tx], T]) -> T:
        """Run `fn` on a snapshot that refuses to write."""
        if self._threads is None or self._loop is None:
            raise StoreClosed("The agency is not open: use it inside `async with agency:`.")
        return await self._loop.run_in_executor(self._threads, self._read, fn)

    def _read(self, fn: Callable[[Tx], Any]) -> Any:
        assert self._read_engine is not None
        if not self.sqlite:
            with self._read_engine.connect() as connection, connection.begin():
                return self._read_on(connection, fn)
        # A file does not go away: each thread keeps its connection.
        kept: Connection | None = getattr(self._kept, "connection", None)
        if kept is None:
            kept = self._kept.connection = self._read_engine.connect()
        raw = _raw(kept)
        raw.execute("BEGIN")
        try:
            return self._read_on(kept, fn)
        finally:
            _end(kept, raw, "ROLLBACK")

    def _read_on(self, connection: Connection, fn: Callable[[Tx], Any]) -> Any:
        tx = Tx(connection, self._now(), self.dialect)
        try:
            return fn(tx)
        finally:
            tx.close()

    def _before_commit(self) -> int:
        number = next(self._numbers)
        if self.watch is not None:
            self.watch("before", number)
        return number

    def _after_commit(self, number: int) -> None:
        self.commits += 1
        if self.watch is not None:
            self.watch("after", number)

    # PostgreSQL: a transaction for each function.

    def _write_alone(self, fn: Callable[[Tx], Any], future: asyncio.Future[Any]) -> None:
        assert self._write_engine is not None
        assert self._loop is not None
        after: list[Callable[[], None]] = []
        result: Any = None
        failure: BaseException | None = None
        for attempt in range(TRIES):
            failure = None
            try:
                with self._write_engine.begin() as connection:
                    tx = Tx(connection, self._now(), self.dialect)
                    try:
                        result = fn(tx)
                        after = tx.end()
                    finally:
                        tx.close()
                    number = self._before_commit()
                self._after_commit(number)
                break
            except BaseException as error:
                failure = error
                if not worth_another_try(error) or attempt == TRIES - 1:
                    break
        self._loop.call_soon_threadsafe(_resolve, [(future, result, failure, after)])

    # SQLite: one thread, one connection, a COMMIT for all that waits.

    def _drain(self) -> None:
        assert self._write_engine is not None
        with self._write_engine.connect() as connection:
            while True:
                job = self._jobs.get()
                if job is None:
                    return
                batch = [job]
                stop = False
                while len(batch) < self.shared_commit:
                    try:
                        following = self._jobs.get_nowait()
                    except queue.Empty:
                        break
                    if following is None:
                        stop = True
                        break
                    batch.append(following)
                self._commit_together(connection, batch)
                if stop:
                    return

    def _commit_together(self, connection: Connection, batch: list[Job]) -> None:
        assert self._loop is not None
        done: list[Outcome] = []
        raw = _raw(connection)
        try:
            raw.execute("BEGIN IMMEDIATE")
            for fn, future in batch:
                raw.execute("SAVEPOINT one")
                tx = Tx(connection, self._now(), "sqlite")
                try:
                    result = fn(tx)
                    after = tx.end()
                except BaseException as error:
                    tx.close()
                    raw.execute("ROLLBACK TO SAVEPOINT one")
                    raw.execute("RELEASE SAVEPOINT one")
                    done.append((future, None, error, []))
                else:
                    raw.execute("RELEASE SAVEPOINT one")
                    done.append((future, result, None, after))
            number = self._before_commit()
            _end(connection, raw, "COMMIT")
            self._after_commit(number)
        except BaseException as error:  # the COMMIT itself: nothing of the batch is there
            _end(connection, raw, "ROLLBACK")
            log.error("the commit of %s functions failed: %r", len(batch), error)
            done = [(future, None, error, []) for _, future in batch]
        self._loop.call_soon_threadsafe(_resolve, done)


def _raw(connection: Connection) -> Any:
    """The driver's own connection under SQLAlchemy's."""
    return connection.connection.dbapi_connection


def _end(connection: Connection, raw: Any, how: str) -> None:
    """End a transaction that was begun on the driver: through SQLAlchemy where a session told it of it."""
    begun = connection.get_transaction()
    if begun is not None and how == "COMMIT":
        begun.commit()
    elif begun is not None:
        begun.rollback()
    elif raw.in_transaction:
        raw.execute(how)


Outcome = tuple["asyncio.Future[Any]", Any, BaseException | None, list[Callable[[], None]]]


def _resolve(done: list[Outcome]) -> None:
    for future, result, failure, after in done:
        if failure is None:
            for callback in after:
                callback()
        if future.cancelled():
            continue
        if failure is None:
            future.set_result(result)
        else:
            future.set_exception(failure)
            future.exception()  # whoever awaited it may be gone


def worth_another_try(error: BaseException) -> bool:
    """Serialization failures and deadlocks: the database undid one of two that met, and says so."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    return getattr(origin, "sqlstate", None) in ("40001", "40P01")


# A process that is stopped, or whose machine is gone, in the middle of a transaction keeps its locks as long as its
# connection is there: others that need the same tree would wait for hours. What is set already is left as it is.
_STALLED = """
SELECT set_config('idle_in_transaction_session_timeout', %s, false)
WHERE current_setting('idle_in_transaction_session_timeout') = '0'
"""


def _postgresql_engine(url: URL, stalled_after: float) -> Engine:
    engine = create_engine(url, pool_size=THREADS, max_overflow=0, pool_pre_ping=True)

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.execute(_STALLED, [f"{int(stalled_after * 1000)}ms"])
        connection.commit()

    return engine


def _sqlite_engine(url: str, *, writes: bool) -> Engine:
    engine = create_engine(
        url, pool_size=THREADS, max_overflow=0, connect_args={"check_same_thread": False, "cached_statements": 512}
    )

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # BEGIN is ours to say
        cursor = connection.cursor()
        cursor.execute("PRAGMA busy_timeout=30000")
        cursor.execute("PRAGMA foreign_keys=ON")
        if writes:
            cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute("PRAGMA synchronous=FULL")
        else:
            cursor.execute("PRAGMA query_only=ON")
        cursor.execute("PRAGMA cache_size=-16384")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        if not _raw(connection).in_transaction:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
