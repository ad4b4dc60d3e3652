"""Serves an ASGI application with uvicorn, as the documentation of the SDKs does."""

import asyncio
import socket
from contextlib import asynccontextmanager

import uvicorn


@asynccontextmanager
async def serve_app(listening: socket.socket, app, settings):
    config = uvicorn.Config(app, log_level='error', lifespan='off', timeout_keep_alive=settings['keepAliveMs'] / 1000)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:
        if serving.done():
            raise serving.exception() or RuntimeError('the server ended at its start')
        await asyncio.sleep(0.005)
    try:
        yield
    finally:
        server.should_exit = server.force_exit = True
        await serving
        listening.close()


def listen():
    listening = socket.create_server(('127.0.0.1', 0))
    return listening, listening.getsockname()[1]
