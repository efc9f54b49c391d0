"""Messages arrive as they were sent, errors included, and only from who knows the secret."""

from __future__ import annotations

import gc
import socket
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed", reason="the extra dask is not installed")

from distributed.protocol.pickle import dumps, loads

from medoids.cluster.channel import Channel, connect, listen

HOST = "127.0.0.1"


class Echo:
    """Answers with what it is asked, or fails."""

    def ask(self, name: str, *message: Any, **options: Any) -> Any:
        if name == "fail":
            raise OSError("no such disk")
        return (lambda: 0) if name == "odd" else (name, message, options)


def ignore() -> None:
    """Wait on."""


def ask(channel: Channel, name: str, *message: Any, **options: Any) -> Any:
    channel.send(dumps((name, message, options)))
    return loads(channel.receive())


@pytest.fixture
def channel() -> Any:
    echo = Echo()
    channel = connect(HOST, *listen(HOST, echo), ignore)  # type: ignore[arg-type]
    yield channel
    channel.close()


@pytest.mark.parametrize("size", [0, 1, 3_000_000])
def test_arrays_come_as_they_went_and_can_be_written_to(channel: Channel, size: int) -> None:
    values, words = np.arange(size, dtype=float), np.array(["a", None, ("b", 1)], dtype=object)
    done, (name, (first, second), options) = ask(channel, "x", values, words, every=2)
    assert (done, name, options) == (True, "x", {"every": 2})
    np.testing.assert_array_equal(first, values)
    assert second.tolist() == words.tolist()
    first += 1


def test_arrays_that_are_not_contiguous(channel: Channel) -> None:
    values = np.arange(24.0).reshape(4, 6)
    for part in (values[:, ::2], values.T, values[::-1]):
        _, (_, (found,), _) = ask(channel, "x", part)
        np.testing.assert_array_equal(found, part)


def test_an_error_is_an_answer(channel: Channel) -> None:
    done, error = ask(channel, "fail")
    assert not done
    assert (type(error), str(error)) == (OSError, "no such disk")
    assert ask(channel, "x")[0]


def test_who_does_not_know_the_secret_is_sent_away() -> None:
    echo = Echo()
    port, secret = listen(HOST, echo)  # type: ignore[arg-type]
    with socket.create_connection((HOST, port), 5) as stranger:
        stranger.sendall(len(secret).to_bytes(4, "big") + bytes(len(secret)))
        assert stranger.recv(1) == b""
    with pytest.raises(OSError):
        connect(HOST, port, secret, ignore)


def test_the_end_of_a_worker_is_seen(channel: Channel) -> None:
    echo = Echo()
    driver = connect(HOST, *listen(HOST, echo), ignore)  # type: ignore[arg-type]
    assert ask(driver, "x")[0]
    del echo
    gc.collect()
    with pytest.raises(OSError, match="closed"):
        driver.receive()
    driver.close()


def test_a_driver_stops_waiting_if_its_check_says_so() -> None:
    class Gone(Exception):
        pass

    def check() -> None:
        raise Gone

    with socket.create_server((HOST, 0)) as silent:
        driver = connect(HOST, silent.getsockname()[1], b"secret", check)
        with pytest.raises(Gone):
            driver.receive()
        driver.close()
