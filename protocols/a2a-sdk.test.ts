import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { AgentCard, type Message, SendMessageRequest, StreamResponse, TaskState } from '@a2a-js/sdk';
import { JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { describe, expect, it } from 'vitest';
import { a2a, buildSendMessageRequest, buildStreamResponse } from './a2a.ts';
import { contractSamples, fullPacket } from './contract/samples.ts';
import { goldenEnvelopes } from './testing/golden-envelopes.ts';
import { testSession } from './testing/session.ts';

/**
 * These tests send blobs of the mesh over HTTP to and from the official SDK, which must find the packet's
 * content in them.
 */

const codec = a2a.open(testSession);
const packets = [...goldenEnvelopes, ...contractSamples].map(({ packet }) => packet);
const { reply_to: _, tag: __, ...asked } = fullPacket;
const final = parsePacket({ ...asked, tag: 'final_answer' });

describe('@a2a-js/sdk', () => {
  it('reads every envelope and writes it again as it was', () => {
    for (const packet of packets) {
      const params = toJson(buildSendMessageRequest(packet));
      expect(SendMessageRequest.toJSON(SendMessageRequest.fromJSON(params))).toEqual(params);
      const result = toJson(buildStreamResponse(packet));
      expect(StreamResponse.toJSON(StreamResponse.fromJSON(result))).toEqual(result);
    }
  });

  it('serves a request of the mesh', async () => {
    const heard: Message[] = [];
    const card = cardOf('http://127.0.0.1');
    const handler = new JsonRpcTransportHandler(
      new DefaultRequestHandler(card, new InMemoryTaskStore(), {
        async execute({ userMessage, taskId, contextId }, bus) {
          heard.push(userMessage);
          const status = { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined };
          bus.publish(
            AgentEvent.task({
              id: taskId,
              contextId,
              status,
              artifacts: [],
              history: [],
              metadata: undefined,
            }),
          );
          bus.finished();
        },
        cancelTask: () => Promise.reject(new Error('nothing to cancel')),
      }),
    );
    const answer = await withServer(
      async (request, response) => {
        const context = new ServerCallContext({ requestedVersion: String(request.headers['a2a-version']) });
        response.end(JSON.stringify(await handler.handle(await text(request), context)));
      },
      async (url) => {
        const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };
        const reply = await fetch(url, { method: 'POST', headers, body: Buffer.from(codec.encode(asked)) });
        return reply.json();
      },
    );
    expect(answer).toMatchObject({
      id: asked.id,
      result: { task: { contextId: asked.task_id, status: { state: 'TASK_STATE_COMPLETED' } } },
    });
    expect(heard).toMatchObject([
      {
        messageId: asked.id,
        contextId: asked.task_id,
        parts: [{ content: { $case: 'data', value: asked.payload }, mediaType: 'application/json' }],
        metadata: { 'urn:mesh:packet:v1': { type: asked.type, from: asked.from, to: asked.to } },
      },
    ]);
  });

  it('streams an event of the mesh', async () => {
    const events = await withServer(
      async (request, response) => {
        // The client numbers its requests, and takes events with that number only.
        const { id } = JSON.parse(await text(request));
        response.setHeader('Content-Type', 'text/event-stream');
        const event = JSON.parse(Buffer.from(codec.encode(final)).toString());
        response.end(`data: ${JSON.stringify({ ...event, id })}\n\n`);
      },
      async (url) => {
        const transport = await new JsonRpcTransportFactory().create(url, cardOf(url));
        const params = toJson(buildSendMessageRequest(asked));
        const heard: StreamResponse[] = [];
        for await (const event of transport.sendMessageStream(SendMessageRequest.fromJSON(params)))
          heard.push(event);
        return heard;
      },
    );
    expect(events).toMatchObject([
      {
        payload: {
          $case: 'artifactUpdate',
          value: {
            contextId: final.task_id,
            lastChunk: true,
            artifact: {
              artifactId: final.id,
              parts: [{ content: { $case: 'data', value: final.payload } }],
              metadata: { 'urn:mesh:packet:v1': { tag: 'final_answer', token_used: final.token_used } },
            },
          },
        },
      },
    ]);
  });
});

/** Returns a message as it is written, without its absent members. */
function toJson(message: object): object {
  return JSON.parse(JSON.stringify(message));
}

function cardOf(url: string): AgentCard {
  return AgentCard.fromJSON({
    name: 'mesh',
    description: 'the mesh',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: [],
  });
}

/** Returns the result of `use` for the address of a server on the loopback that answers with `serve`. */
async function withServer<T>(
  serve: (...args: Parameters<RequestListener>) => Promise<void>,
  use: (url: string) => Promise<T>,
) {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  try {
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    return await use(`http://127.0.0.1:${address.port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
