"""The agent of the stacks of A2A and its client, with the Python SDK, whatever the transport."""

import asyncio
from datetime import datetime, timezone

from a2a.client import ClientCallContext
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCard, Message, Part, Role, SendMessageRequest, Task, TaskState, TaskStatus
from google.protobuf.json_format import MessageToDict, ParseDict

EXTENSION = 'urn:mesh:packet:v1'
HEAD = ('type', 'from', 'to', 'reply_to', 'tag', 'token_used', 'log_uri', 'ts')
WHOLE = ('token_used', 'ts')


def parse_card(card):
    return ParseDict(card, AgentCard())


def to_content(packet):
    """Returns the payload as a part, and the rest of a packet as metadata of the extension."""
    head = {key: packet[key] for key in HEAD if key in packet}
    part = ParseDict({'data': packet['payload'], 'mediaType': 'application/json'}, Part())
    return [part], {EXTENSION: head}


def to_packet(own_id, context_id, parts, metadata):
    head = MessageToDict(metadata)[EXTENSION]
    # Protobuf has numbers with fractions alone.
    head.update({key: int(head[key]) for key in WHOLE})
    return {**head, 'id': own_id, 'task_id': context_id, 'payload': MessageToDict(parts[0].data)}


def read_clock():
    """Returns the time in whole seconds: fractions take more or fewer bytes, so that two runs would differ."""
    return datetime.now(timezone.utc).replace(microsecond=0).isoformat()


class PacketExecutor(AgentExecutor):
    def __init__(self, inbox):
        self.inbox = inbox

    async def execute(self, context, event_queue):
        message = context.message
        submitted = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        task = Task(id=context.task_id, context_id=context.context_id, status=submitted, history=[message])
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.update_status(TaskState.TASK_STATE_WORKING, timestamp=read_clock())
        try:
            packet = to_packet(message.message_id, message.context_id, message.parts, message.metadata)
            for reply in await self.inbox(packet):
                parts, metadata = to_content(reply)
                await updater.add_artifact(
                    parts, reply['id'], metadata=metadata, last_chunk=True, extensions=[EXTENSION]
                )
            await updater.update_status(TaskState.TASK_STATE_COMPLETED, timestamp=read_clock())
        except Exception as error:
            await updater.failed(updater.new_agent_message([Part(text=str(error))]))

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def create_handler(inbox, card):
    return DefaultRequestHandler(PacketExecutor(inbox), InMemoryTaskStore(), card)


def create_exchange(client, settings):
    """Returns a function that sends a packet and returns the artifacts of its task as packets."""
    parameters = ServiceParametersFactory.create([with_a2a_extensions([EXTENSION])])

    async def exchange(packet):
        parts, metadata = to_content(packet)
        message = Message(
            message_id=packet['id'],
            context_id=packet['task_id'],
            role=Role.ROLE_USER,
            parts=parts,
            metadata=metadata,
            extensions=[EXTENSION],
        )
        request = SendMessageRequest(message=message)
        request.configuration.history_length = 0
        async with asyncio.timeout(settings['deadlineMs'] / 1000):
            context = ClientCallContext(service_parameters=parameters)
            answers = [answer async for answer in client.send_message(request, context=context)]
        task = answers[-1].task
        if task.status.state != TaskState.TASK_STATE_COMPLETED:
            text = ''.join(part.text for part in task.status.message.parts)
            raise RuntimeError(f'A2A: task {task.id} ended as {TaskState.Name(task.status.state)}: {text}')
        return [
            to_packet(artifact.artifact_id, packet['task_id'], artifact.parts, artifact.metadata)
            for artifact in task.artifacts
        ]

    return exchange
