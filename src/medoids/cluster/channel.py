"""A connection from the driver to one worker, beside those of Dask: a trip takes a tenth of the time.

A call of an actor passes the event loops of driver, scheduler and worker, and two threads beside them. Here the thread
that asks writes to a socket, and the thread that works reads from it.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing, suppress
from hmac import compare_digest
from multiprocessing.connection import Connection
from secrets import token_bytes
from threading import Thread
from weakref import ReferenceType, ref

from distributed.protocol.pickle import dumps, loads

from medoids.cluster.worker import Worker

__all__ = ["LOOK", "Channel", "connect", "listen", "reply"]

# Seconds between two looks whether the other end is still there, and to wait for a connection.
LOOK, _WAIT = 1.0, 3.0


def reply(worker: Worker, message: bytes) -> bytes:
    """Do what a message says; return an answer, or an error, and which of the two it is."""
    try:
        name, arguments, options = loads(message)
        answer: bytes = dumps((True, worker.ask(name, *arguments, **options)))
    except Exception as error:
        answer = dumps((False, error))
    return answer


class Channel:
    """One end of a connection; ``check`` is called every second of waiting, and raises an error to end it."""

    def __init__(self, connection: socket.socket, check: Callable[[], None]) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(None)
        self._connection, self._check = Connection(connection.detach()), check

    def send(self, message: bytes) -> None:
        self._connection.send_bytes(message)

    def receive(self, most: int | None = None) -> bytes:
        """Wait for a message, of some bytes at most; an OSError if the other end is gone."""
        while not self._connection.poll(LOOK):
            self._check()
        try:
            return self._connection.recv_bytes(most)
        except EOFError as error:
            raise ConnectionResetError("the other end closed the connection") from error

    def close(self) -> None:
        self._connection.close()


def connect(host: str, port: int, secret: bytes, check: Callable[[], None]) -> Channel:
    """Return the driver's end of a connection to a worker that listens."""
    channel = Channel(socket.create_connection((host, port), _WAIT), check)
    channel.send(secret)
    return channel


def listen(host: str, worker: Worker) -> tuple[int, bytes]:
    """Let a worker answer in a thread of its own; return the port, and the secret that the driver has to send first.

    The thread ends with the connection, or when nothing else refers to the worker.
    """
    listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.settimeout(2 * _WAIT)
    secret = token_bytes(32)
    Thread(target=_answer, args=(listener, secret, ref(worker)), daemon=True).start()
    return listener.getsockname()[1], secret


def _answer(listener: socket.socket, secret: bytes, worker: ReferenceType[Worker]) -> None:
    def check() -> None:
        if worker() is None:
            raise ConnectionResetError("the worker is no longer needed")

    with suppress(OSError):  # if the driver is gone, did not come, or is somebody else
        with listener:
            channel = Channel(listener.accept()[0], check)
        with closing(channel):
            known = compare_digest(channel.receive(len(secret)), secret)
            while known:
                message, here = channel.receive(), worker()
                if here is not None:
                    channel.send(reply(here, message))
                del message, here
