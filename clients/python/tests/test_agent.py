"""The agent beside a hub of this file, over real sockets."""

import hashlib
import hmac
import json
import socket
import struct
import threading

import pytest

from gaia_mesh import Agent, MeshError, Packet, read_frame, write_frame

SECRET = "a secret of both ends"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def start(agent: Agent) -> int:
    port = free_port()
    threading.Thread(target=agent.serve, args=(port, "0"), daemon=True).start()
    return port


def dial(port: int) -> socket.socket:
    for _ in range(200):
        try:
            link = socket.create_connection(("127.0.0.1", port))
            link.settimeout(20)
            return link
        except ConnectionRefusedError:
            threading.Event().wait(0.02)
    raise TimeoutError


def say(link: socket.socket, value: object) -> None:
    write_frame(link, json.dumps(value, separators=(",", ":")).encode())


def hear(link: socket.socket) -> dict:
    return json.loads(read_frame(link, 1 << 20))


def prove(secret: str, role: str, agreed: list, said: list) -> str:
    text = json.dumps([role, *agreed, said], separators=(",", ":")).encode()
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest() if secret else ""


def shake(link: socket.socket, secret: str, adapter: str = "json") -> None:
    hello = {"kind": "hello", "wire": 1, "run": "r", "node": "0", "tool": "reason", "adapter": adapter}
    say(link, {**hello, "auth": "hmac" if secret else "open", "nonce": "ab" * 32})
    welcome = hear(link)
    assert welcome["kind"] == "welcome", welcome
    agreed = [1, "r", "0", "reason", adapter, "ab" * 32, welcome["nonce"]]
    assert welcome["proof"] == prove(secret, "agent", agreed, [["doc_init"], ["data_event"], None])
    say(link, {"kind": "begin", "proof": prove(secret, "hub", agreed, [1 << 20, None]), "max_frame": 1 << 20})
    assert hear(link) == {"kind": "ready"}


DOCUMENT = {
    "type": "doc_init",
    "from": "hub",
    "id": "h-1",
    "task_id": "t",
    "token_used": 0,
    "ts": 1,
    "payload": {"question": "?", "chunks": ["One. ", "Two."]},
}


def make(secret: str = "") -> Agent:
    agent = Agent("reason", ["doc_init"], ["data_event"], secret=secret)

    @agent.on("doc_init")
    def answer(packet: Packet) -> Packet:
        return packet.final_answer("".join(packet.payload["chunks"]).split(". ")[0])

    return agent


@pytest.mark.parametrize("secret", ["", SECRET])
def test_answers_a_document(secret: str) -> None:
    link = dial(start(make(secret)))
    shake(link, secret)
    say(link, {**DOCUMENT, "type": "events"})
    say(link, DOCUMENT)
    packet = hear(link)
    assert packet.pop("ts") > 0
    assert packet == {
        "type": "data_event",
        "from": "0",
        "id": "0-1",
        "task_id": "t",
        "tag": "final_answer",
        "token_used": 0,
        "payload": {"answer": "One"},
    }


def test_speaks_msgpack() -> None:
    msgpack = pytest.importorskip("msgpack")
    link = dial(start(make()))
    shake(link, "", "msgpack")
    write_frame(link, msgpack.packb(DOCUMENT))
    assert msgpack.unpackb(read_frame(link, 1 << 20))["payload"] == {"answer": "One"}


def test_an_exception_ends_the_task_and_the_agent_goes_on() -> None:
    agent = Agent("reason", ["doc_init"], ["data_event"])

    @agent.on("doc_init")
    def fail(packet: Packet) -> Packet:
        raise ValueError("no text")

    link = dial(start(agent))
    shake(link, "")
    for _ in range(2):
        say(link, DOCUMENT)
        packet = hear(link)
        assert (packet["tag"], packet["payload"]) == ("task_failed", {"reason": "ValueError: no text"})


def test_a_hub_without_the_secret_gets_nothing() -> None:
    link = dial(start(make(SECRET)))
    hello = {"kind": "hello", "wire": 1, "run": "r", "node": "0", "tool": "reason", "adapter": "json"}
    say(link, {**hello, "auth": "hmac", "nonce": "ab" * 32})
    hear(link)
    say(link, {"kind": "begin", "proof": "0" * 64, "max_frame": 1 << 20})
    assert link.recv(1) == b""


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"adapter": "toon"}, "not toon"), ({"wire": 2}, "wire version 1"), ({"auth": "hmac"}, "GAIA_MESH_SECRET")],
)
def test_refuses_what_it_cannot_do(change: dict, reason: str) -> None:
    link = dial(start(make()))
    hello = {"kind": "hello", "wire": 1, "run": "r", "node": "0", "tool": "reason", "adapter": "json"}
    say(link, {**hello, "auth": "open", "nonce": "ab" * 32, **change})
    refused = hear(link)
    assert refused["kind"] == "refuse" and reason in refused["message"]


def test_a_frame_above_the_limit_ends_the_connection_and_the_next_hub_is_served() -> None:
    port = start(make())
    link = dial(port)
    shake(link, "")
    link.sendall(struct.pack(">I", 1 << 30))
    assert link.recv(1) == b""
    shake(dial(port), "")


def test_a_secret_that_is_too_short_is_refused() -> None:
    with pytest.raises(MeshError, match="16 characters"):
        make("short")
