"""The guard in front of the HTTP service gives every place back."""

import asyncio

import pytest

from intent_runtime.mcp import guard as guard_module
from intent_runtime.mcp.guard import Guard


def scope(method="POST", headers=()):
    return {"type": "http", "path": "/mcp", "method": method, "headers": list(headers)}


class Client:
    """One request whose body and end the test decides."""

    def __init__(self):
        self.incoming = asyncio.Queue()
        self.sent = []

    async def receive(self):
        return await self.incoming.get()

    async def send(self, message):
        self.sent.append(message)

    @property
    def status(self):
        return self.sent[0]["status"]


async def reads_everything(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def never_answers(scope, receive, send):
    await receive()
    await asyncio.Event().wait()


def test_a_stalled_body_is_answered_and_gives_its_place_back(monkeypatch):
    monkeypatch.setattr(guard_module, "BODY_SECONDS", 0.05)

    async def drive():
        guard = Guard(reads_everything, {}, 1)
        stalled = Client()
        stalled.incoming.put_nowait({"type": "http.request", "body": b"{", "more_body": True})
        await asyncio.wait_for(guard(scope(), stalled.receive, stalled.send), 20)
        assert stalled.status == 408
        good = Client()
        good.incoming.put_nowait({"type": "http.request", "body": b"{}", "more_body": False})
        await asyncio.wait_for(guard(scope(), good.receive, good.send), 20)
        assert good.status == 200

    asyncio.run(drive())


def test_a_call_whose_client_is_gone_gives_its_place_back():
    async def drive():
        guard = Guard(never_answers, {}, 1)
        gone = Client()
        gone.incoming.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        call = asyncio.ensure_future(guard(scope(), gone.receive, gone.send))
        while gone.incoming.qsize():  # noqa: ASYNC110 - the guard tells nobody
            await asyncio.sleep(0)
        busy = Client()
        await guard(scope(), busy.receive, busy.send)
        assert busy.status == 503
        gone.incoming.put_nowait({"type": "http.disconnect"})
        await asyncio.wait_for(call, 20)
        assert guard.running == 0

    asyncio.run(drive())


def test_a_breakdown_of_the_application_reaches_the_server():
    async def broken(scope, receive, send):
        raise KeyError

    async def drive():
        guard = Guard(broken, {}, 1)
        client = Client()
        with pytest.raises(KeyError):
            await guard(scope(), client.receive, client.send)
        assert guard.running == 0

    asyncio.run(drive())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([], 401),
        ([(b"authorization", b"Bearer right-token-0001")], 200),
        ([(b"authorization", b"bearer right-token-0001 ")], 200),
        ([(b"authorization", b"Basic right-token-0001")], 401),
        ([(b"authorization", b"Bearer wrong-token-0001")], 401),
        ([(b"authorization", b"Bearer right-token-0001")] * 2, 401),
        ([(b"authorization", b"Bearer ")], 401),
    ],
)
def test_exactly_one_right_token_is_needed(headers, status):
    async def drive():
        guard = Guard(reads_everything, {"alice": b"right-token-0001"}, 1)
        client = Client()
        client.incoming.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        await guard(scope(headers=headers), client.receive, client.send)
        return client.status

    assert asyncio.run(drive()) == status


def test_the_place_is_free_before_the_client_sees_the_end():
    async def drive():
        guard = Guard(reads_everything, {}, 1)
        client = Client()
        places = []

        async def send(message):
            places.append((message["type"], guard.running))

        client.incoming.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        await guard(scope(), client.receive, send)
        assert places == [("http.response.start", 1), ("http.response.body", 0)]

    asyncio.run(drive())
