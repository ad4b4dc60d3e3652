"""MCP over the pipes of a process with the Python SDK. The server counts the bytes of its own pipes."""

import asyncio
import io
import json
import signal
import sys
from contextlib import asynccontextmanager

import anyio
from mcp import Client, StdioServerParameters, stdio_client, stdio_server
from packet_tool import create_exchange, create_server


class CountedPipe(io.RawIOBase):
    """A pipe whose bytes and lines are counted, each line being a message."""

    def __init__(self, raw):
        self.raw, self.bytes, self.lines = raw, 0, 0

    def readable(self):
        return self.raw.readable()

    def writable(self):
        return self.raw.writable()

    def readinto(self, buffer):
        length = self.raw.readinto(buffer)
        self.count(buffer[:length])
        return length

    def write(self, data):
        length = self.raw.write(data)
        self.count(data[:length])
        return length

    def count(self, data):
        self.bytes += len(data)
        self.lines += bytes(data).count(b'\n')

    def read_lines(self):
        body = self.bytes - self.lines
        return {'raw': self.bytes, 'tls': 0, 'head': self.lines, 'body': body, 'messages': self.lines}


@asynccontextmanager
async def serve(inbox, settings, peer):
    received, sent = CountedPipe(sys.stdin.buffer.raw), CountedPipe(sys.stdout.buffer.raw)
    peer.count_wire = lambda: {'connections': 1, 'sent': sent.read_lines(), 'received': received.read_lines()}
    stdin = anyio.wrap_file(io.TextIOWrapper(io.BufferedReader(received), encoding='utf-8'))
    stdout = anyio.wrap_file(io.TextIOWrapper(io.BufferedWriter(sent), encoding='utf-8'))
    server = create_server(inbox, settings)

    async def run():
        async with stdio_server(stdin, stdout) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        await peer.end()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: asyncio.ensure_future(peer.end()))
    running = asyncio.create_task(run())
    yield None
    running.cancel()


@asynccontextmanager
async def connect(address, settings):
    async with Client(stdio_client(StdioServerParameters(**json.loads(address)))) as client:
        yield await create_exchange(client, settings)
