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
    # asyncio sets TCP_NODELAY only on sockets that name their protocol, as those that uvicorn opens itself do. With Nagle's algorithm each
    # reply would wait 40 ms for an acknowledgement.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(('127.0.0.1', 0))
    listening.listen()
    return listening, listening.getsockname()[1]
