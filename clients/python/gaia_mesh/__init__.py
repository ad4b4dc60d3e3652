"""Agents of Gaia Mesh in Python: framing, handshake, and the adapters json and msgpack.

The format is described in docs/wire-format.md.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import socket
import struct
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

__all__ = ["Agent", "MeshError", "Packet"]

WIRE = 1
"""Version of the handshake."""
MAX_HANDSHAKE_BYTES = 256 * 1024
MIN_SECRET_CHARACTERS = 16


class MeshError(Exception):
    """The hub broke the rules, or refused this agent."""


class Codec(Protocol):
    """An adapter's coding of packets."""

    def encode(self, packet: dict[str, Any]) -> bytes: ...

    def decode(self, blob: bytes) -> dict[str, Any]: ...


class JsonCodec:
    """Compact JSON in UTF-8."""

    def encode(self, packet: dict[str, Any]) -> bytes:
        return json.dumps(packet, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()

    def decode(self, blob: bytes) -> dict[str, Any]:
        return json.loads(blob)


class MsgpackCodec:
    """MessagePack maps. It needs the package msgpack."""

    def __init__(self) -> None:
        try:
            import msgpack
        except ImportError as error:
            raise MeshError("the adapter msgpack needs a package: pip install msgpack") from error
        self._msgpack = msgpack

    def encode(self, packet: dict[str, Any]) -> bytes:
        return self._msgpack.packb(packet)

    def decode(self, blob: bytes) -> dict[str, Any]:
        return self._msgpack.unpackb(blob)


CODECS: dict[str, Callable[[], Codec]] = {"json": JsonCodec, "msgpack": MsgpackCodec}


@dataclass(frozen=True)
class Packet:
    """A packet of the mesh; `sender` and `to` are ids of nodes."""

    type: str
    payload: dict[str, Any]
    task_id: str
    sender: str = ""
    id: str = ""
    to: str | None = None
    reply_to: str | None = None
    tag: str | None = None
    token_used: int = 0

    def reply(self, type: str, payload: dict[str, Any], token_used: int = 0) -> Packet:
        """Returns an answer to this packet, for its sender alone."""
        return Packet(type, payload, self.task_id, to=self.sender, reply_to=self.id, token_used=token_used)

    def broadcast(self, type: str, payload: dict[str, Any], token_used: int = 0) -> Packet:
        """Returns a packet of the same task for all agents."""
        return Packet(type, payload, self.task_id, token_used=token_used)

    def final_answer(self, answer: str, token_used: int = 0) -> Packet:
        """Returns the packet that ends the task with an answer."""
        return replace(self.broadcast("data_event", {"answer": answer}, token_used), tag="final_answer")

    def failed(self, reason: str) -> Packet:
        """Returns the packet that ends the task without an answer."""
        return replace(self.broadcast("data_event", {"reason": reason}), tag="task_failed")


Handler = Callable[[Packet], "Packet | Iterable[Packet] | None"]


@dataclass
class Agent:
    """An agent with one tool. `subscribes` and `emits` are types of packets."""

    tool: str
    subscribes: list[str]
    emits: list[str]
    secret: str = field(default_factory=lambda: os.environ.get("GAIA_MESH_SECRET", ""), repr=False)
    _handlers: dict[str, Handler] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if 0 < len(self.secret) < MIN_SECRET_CHARACTERS:
            raise MeshError(f"GAIA_MESH_SECRET has fewer than {MIN_SECRET_CHARACTERS} characters")

    def on(self, type: str) -> Callable[[Handler], Handler]:
        """Registers a function for packets of this type."""
        if type not in self.subscribes:
            raise MeshError(f"the agent does not subscribe to {type}")

        def register(handler: Handler) -> Handler:
            self._handlers[type] = handler
            return handler

        return register

    def serve(self, port: int, node: str) -> None:
        """Listens on 127.0.0.1 and serves one hub after the other, until the process is ended."""
        with socket.create_server(("127.0.0.1", port)) as listener:
            while True:
                link, _ = listener.accept()
                with link:
                    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    try:
                        self._serve_hub(link, node)
                    except (EOFError, OSError):
                        continue

    def _serve_hub(self, link: socket.socket, node: str) -> None:
        codec, max_frame = self._shake_hands(link, node)
        count = 0
        while True:
            packet = read_packet(codec.decode(read_frame(link, max_frame)))
            handler = self._handlers.get(packet.type)
            if handler is None:
                continue
            for answer in run(handler, packet):
                count += 1
                write_frame(link, codec.encode(write_packet(answer, node, f"{node}-{count}")))

    def _shake_hands(self, link: socket.socket, node: str) -> tuple[Codec, int]:
        hello = json.loads(read_frame(link, MAX_HANDSHAKE_BYTES))
        auth = "hmac" if self.secret else "open"
        refusal = self._refuse(hello, auth)
        if refusal is not None:
            write_json(link, {"kind": "refuse", "message": refusal})
            raise EOFError(refusal)
        about = {
            "node": node if hello["node"] == "*" else hello["node"],
            "tool": self.tool if hello["tool"] == "*" else hello["tool"],
            "adapter": hello["adapter"],
        }
        codec = CODECS[hello["adapter"]]()
        nonce = secrets.token_hex(32)
        agreed = [hello["wire"], hello["run"], *about.values(), hello["nonce"], nonce]
        proof = self._prove("agent", agreed, [self.subscribes, self.emits, None])
        lists = {"subscribes": self.subscribes, "emits": self.emits}
        welcome = {"kind": "welcome", "wire": WIRE, **about, "auth": auth, "nonce": nonce, "proof": proof}
        write_json(link, {**welcome, **lists})
        begin = json.loads(read_frame(link, MAX_HANDSHAKE_BYTES))
        if begin.get("kind") != "begin":
            raise EOFError(f"the hub refused: {begin.get('message')}")
        expected = self._prove("hub", agreed, [begin["max_frame"], None])
        if not hmac.compare_digest(begin["proof"], expected):
            raise EOFError("the hub did not prove that it knows the secret")
        write_json(link, {"kind": "ready"})
        return codec, begin["max_frame"]

    def _refuse(self, hello: dict[str, Any], auth: str) -> str | None:
        """Returns the reason why this agent cannot take part; None if it can."""
        if hello.get("kind") != "hello" or hello.get("wire") != WIRE:
            return f"expected a hello of wire version {WIRE}"
        if hello["adapter"] not in CODECS:
            return f"this agent speaks {', '.join(CODECS)}, not {hello['adapter']}"
        if hello["auth"] != auth:
            return "one of hub and agent has GAIA_MESH_SECRET, and the other one has not"
        if "delivery" in hello:
            return "this agent does not acknowledge packets"
        return None

    def _prove(self, role: str, agreed: list[Any], said: list[Any]) -> str:
        text = JsonCodec().encode([role, *agreed, said])  # type: ignore[arg-type]
        return hmac.new(self.secret.encode(), text, hashlib.sha256).hexdigest() if self.secret else ""


def run(handler: Handler, packet: Packet) -> list[Packet]:
    """Runs a handler. Its exception ends the task, and not this process."""
    try:
        answer = handler(packet)
    except Exception as error:  # noqa: BLE001
        return [packet.failed(f"{type(error).__name__}: {error}")]
    return [] if answer is None else [answer] if isinstance(answer, Packet) else list(answer)


def read_packet(value: dict[str, Any]) -> Packet:
    own = {key: value[key] for key in ("type", "payload", "task_id", "id", "to", "reply_to", "tag") if key in value}
    return Packet(sender=value["from"], token_used=value.get("token_used", 0), **own)


def write_packet(packet: Packet, node: str, id: str) -> dict[str, Any]:
    addressed = {"to": packet.to, "reply_to": packet.reply_to, "tag": packet.tag}
    return {
        "type": packet.type,
        "from": node,
        "id": id,
        "task_id": packet.task_id,
        **{key: value for key, value in addressed.items() if value is not None},
        "token_used": packet.token_used,
        "ts": int(time.time() * 1000),
        "payload": packet.payload,
    }


def read_frame(link: socket.socket, most: int) -> bytes:
    """Reads one frame: four bytes of length, big-endian, and that many bytes."""
    (length,) = struct.unpack(">I", read_exactly(link, 4))
    if length > most:
        raise EOFError(f"a frame of {length} bytes, more than {most}")
    return read_exactly(link, length)


def read_exactly(link: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        chunk = link.recv(min(count - len(data), 1 << 20))
        if not chunk:
            raise EOFError("the hub is gone")
        data += chunk
    return bytes(data)


def write_frame(link: socket.socket, blob: bytes) -> None:
    link.sendall(struct.pack(">I", len(blob)) + blob)


def write_json(link: socket.socket, value: dict[str, Any]) -> None:
    write_frame(link, JsonCodec().encode(value))
