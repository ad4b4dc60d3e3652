"""MCP over streamable HTTP with the Python SDK: uvicorn serves, httpx asks."""

from contextlib import asynccontextmanager

import httpx2
from http_server import listen, serve_app
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from packet_tool import create_exchange, create_server


@asynccontextmanager
async def serve(inbox, settings, _peer):
    listening, port = listen()
    server = create_server(inbox, settings)
    app = server.streamable_http_app(max_request_body_size=settings['largestBytes'])
    async with server.session_manager.run(), serve_app(listening, app, settings):
        yield port


@asynccontextmanager
async def connect(address, settings):
    kept = settings['connections'] if settings['keepAliveMs'] > 0 else 0
    limits = httpx2.Limits(
        max_connections=settings['connections'],
        max_keepalive_connections=kept,
        keepalive_expiry=settings['keepAliveMs'] / 1000,
    )
    async with httpx2.AsyncClient(limits=limits, timeout=None) as http:
        transport = streamable_http_client(address, http_client=http, max_sse_event_size=None)
        async with Client(transport) as client:
            yield await create_exchange(client, settings)
