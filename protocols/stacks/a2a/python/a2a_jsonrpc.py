"""A2A by JSON-RPC over HTTP with the Python SDK: uvicorn serves, httpx asks."""

from contextlib import asynccontextmanager

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from http_server import listen, serve_app
from packet_agent import create_exchange, create_handler, parse_card
from starlette.applications import Starlette

PATH = '/a2a/jsonrpc'


@asynccontextmanager
async def serve(inbox, settings, _peer):
    listening, port = listen()
    url = f'http://127.0.0.1:{settings["advertisedPort"] or port}{PATH}'
    interface = {'url': url, 'protocolBinding': 'JSONRPC', 'protocolVersion': '1.0'}
    card = parse_card({**settings['card'], 'supportedInterfaces': [interface]})
    handler = create_handler(inbox, card)
    app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, PATH)])
    async with serve_app(listening, app, settings):
        yield port


@asynccontextmanager
async def connect(address, settings):
    limits = httpx.Limits(
        max_connections=settings['connections'],
        max_keepalive_connections=settings['connections'] if settings['keepAliveMs'] > 0 else 0,
        keepalive_expiry=settings['keepAliveMs'] / 1000,
    )
    async with httpx.AsyncClient(limits=limits, timeout=None) as http:
        factory = ClientFactory(ClientConfig(streaming=False, httpx_client=http))
        yield create_exchange(await factory.create_from_url(address), settings)
