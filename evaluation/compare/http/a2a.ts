import { MeshError, systemCodeOf } from '../../../core/contracts/errors.ts';
import type { Packet } from '../../../core/contracts/packet.ts';
import { MESH_EXTENSION, sendMessageRequestOf } from '../../../protocols/a2a/message.ts';
import type { Answer, Ask, HttpBinding, Unavailable } from './http-binding.ts';

/**
 * Agent2Agent over HTTP as its own SDK does it, both ends: `SendMessage` of the JSON-RPC binding (specification §9), answered by a
 * task that is completed. The SDK is a development dependency, so it may not be there.
 */
export async function a2aHttp(): Promise<HttpBinding | Unavailable> {
  const sdk = await loadSdk();
  if (sdk === null) return { adapter: 'a2a', why: 'its SDK `@a2a-js/sdk` is not installed' };
  return {
    adapter: 'a2a',
    client: 'client and server of `@a2a-js/sdk`',
    connect: (url) => askWith(sdk, url),
    answer: answerWith(sdk),
  };
}

type Sdk = NonNullable<Awaited<ReturnType<typeof loadSdk>>>;

async function loadSdk() {
  try {
    const model = await import('@a2a-js/sdk');
    return { model, client: await import('@a2a-js/sdk/client'), server: await import('@a2a-js/sdk/server') };
  } catch (error) {
    if (systemCodeOf(error) === 'ERR_MODULE_NOT_FOUND') return null;
    throw error;
  }
}

async function askWith(
  { model, client: { ClientFactory, ServiceParameters, withA2AExtensions } }: Sdk,
  url: string,
) {
  const client = await new ClientFactory().createFromAgentCard(cardOf(model, url));
  const serviceParameters = ServiceParameters.create(withA2AExtensions(MESH_EXTENSION));
  const ask: Ask = async (packet, signal) => {
    const request = model.SendMessageRequest.fromJSON(requestOf(packet));
    const result = await client.sendMessage(request, { signal, serviceParameters });
    if (!('status' in result) || result.contextId !== packet.task_id) {
      throw new MeshError('packet', `a2a: expected a task of ${packet.task_id} in answer to ${packet.id}`);
    }
  };
  return ask;
}

/** Of any packet. In the mesh `reply_to` has its place in the event that an answer is; in a request there is only the extension's. */
function requestOf(packet: Packet) {
  const { message } = sendMessageRequestOf(packet);
  const extension = { ...message.metadata[MESH_EXTENSION], reply_to: packet.reply_to };
  return {
    message: { ...message, metadata: { [MESH_EXTENSION]: extension } },
    // Else the SDK's server answers with the whole message again, as the task's history.
    configuration: { historyLength: 0 },
  };
}

function answerWith({ model, server }: Sdk): Answer {
  const handler = new server.JsonRpcTransportHandler(
    new server.DefaultRequestHandler(cardOf(model, ''), new server.InMemoryTaskStore(), {
      async execute({ taskId, contextId, context }, bus) {
        context.addActivatedExtension(MESH_EXTENSION);
        const status = {
          state: model.TaskState.TASK_STATE_COMPLETED,
          message: undefined,
          timestamp: undefined,
        };
        const task = { id: taskId, contextId, status, artifacts: [], history: [], metadata: undefined };
        bus.publish(server.AgentEvent.task(task));
        bus.finished();
      },
      cancelTask: () => Promise.reject(new Error('there is nothing to cancel')),
    }),
  );
  return async ({ headers }, body) => {
    const context = new server.ServerCallContext({
      requestedVersion: String(headers['a2a-version']),
      requestedExtensions: model.Extensions.parseServiceParameter(String(headers['a2a-extensions'] ?? '')),
    });
    const reply = await handler.handle(body.toString(), context);
    const activated = [...(context.activatedExtensions ?? [])].join(', ');
    return { body: reply, headers: activated === '' ? {} : { 'A2A-Extensions': activated } };
  };
}

function cardOf({ AgentCard }: Sdk['model'], url: string) {
  return AgentCard.fromJSON({
    name: 'mesh',
    description: 'what a packet is sent to',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { extensions: [{ uri: MESH_EXTENSION }] },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: [],
  });
}
