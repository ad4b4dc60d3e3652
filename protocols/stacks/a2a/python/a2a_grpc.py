"""A2A over gRPC with the Python SDK. The client knows the agent's card by configuration, as the other languages' do."""

from contextlib import asynccontextmanager

import grpc.aio
from a2a.client import ClientConfig, ClientFactory
from a2a.server.request_handlers import GrpcHandler
from a2a.types.a2a_pb2_grpc import add_A2AServiceServicer_to_server
from packet_agent import create_exchange, create_handler, parse_card


def list_options(settings):
    limits = ('grpc.max_receive_message_length', 'grpc.max_send_message_length')
    # Without probes of the bandwidth, whose answers depend on the moment, bytes are the same from run to run.
    return [*((limit, settings['largestBytes']) for limit in limits), ('grpc.http2.bdp_probe', 0)]


def create_card(url, settings):
    interface = {'url': url, 'protocolBinding': 'GRPC', 'protocolVersion': '1.0'}
    return parse_card({**settings['card'], 'supportedInterfaces': [interface]})


@asynccontextmanager
async def serve(inbox, settings, _peer):
    server = grpc.aio.server(options=list_options(settings))
    port = server.add_insecure_port('127.0.0.1:0')
    card = create_card(f'127.0.0.1:{settings["advertisedPort"] or port}', settings)
    add_A2AServiceServicer_to_server(GrpcHandler(create_handler(inbox, card)), server)
    await server.start()
    try:
        yield port
    finally:
        await server.stop(None)


@asynccontextmanager
async def connect(address, settings):
    url = address.removeprefix('grpc://')
    # Channels of one process to one address share a connection by default.
    options = [*list_options(settings), ('grpc.use_local_subchannel_pool', 1)]
    config = ClientConfig(
        streaming=False,
        supported_protocol_bindings=['GRPC'],
        grpc_channel_factory=lambda target: grpc.aio.insecure_channel(target, options),
    )
    client = ClientFactory(config).create(create_card(url, settings))
    try:
        yield create_exchange(client, settings)
    finally:
        await client.close()
