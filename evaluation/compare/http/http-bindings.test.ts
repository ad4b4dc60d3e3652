import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { adapterNamed } from '../../../protocols/registry.ts';
import { sharedJson } from '../../../protocols/testing/shared-file.ts';
import { sampleRecording } from '../testing/sample-recording.ts';
import { a2aHttp } from './a2a.ts';
import { anpHttp } from './anp.ts';
import { CountingServer } from './counting-server.ts';
import { endsOf } from './json-rpc.ts';
import { mcpHttp } from './mcp.ts';
import { headsOf, played } from './testing/played.ts';

/** Requests of real clients, and answers to them, over real sockets. */

const packets = sampleRecording.packets.map(({ packet }) => packet);
const ends = async (name: string) => endsOf(await adapterNamed(name), sampleRecording);

let server: CountingServer | undefined;
afterEach(async () => {
  await server?.close();
});

describe('A2A over HTTP', () => {
  test('is understood by both ends of its SDK', async () => {
    const binding = await a2aHttp();
    if ('why' in binding) throw new Error(binding.why);
    const { heard, headBytes } = await played(binding);
    expect(heard.map(({ request }) => request)).toMatchObject(
      packets.map(({ id, type, reply_to }) => ({
        method: 'SendMessage',
        params: {
          message: {
            messageId: id,
            metadata: { 'urn:mesh:packet:v1': { type, ...(reply_to === undefined ? {} : { reply_to }) } },
          },
        },
      })),
    );
    for (const { headers, answer } of heard) {
      expect(headers).toMatchObject({ 'a2a-version': '1.0', 'a2a-extensions': 'urn:mesh:packet:v1' });
      expect(answer).toMatchObject({
        result: { task: { contextId: 't', status: { state: 'TASK_STATE_COMPLETED' } } },
      });
      expect(JSON.stringify(answer)).not.toContain('history');
    }
    expect(headsOf(heard)).toBe(headBytes);
  });
});

describe('MCP over HTTP', () => {
  const schema = sharedJson('mcp/schema-2026-07-28.json');

  test('says in headers again what the body says', async () => {
    const { heard, headBytes } = await played(mcpHttp(await ends('mcp')));
    for (const { headers } of heard) {
      expect(headers).toMatchObject({
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'mesh.packet',
      });
    }
    expect(headsOf(heard)).toBe(headBytes);
  });

  test.skipIf(schema === undefined)('is answered as the official schema demands', async () => {
    const ajv = new Ajv2020({ strict: false, logger: false }).addSchema(Object(schema), 'mcp');
    const { heard } = await played(mcpHttp(await ends('mcp')));
    for (const { request, answer } of heard) {
      expect(ajv.validate({ $ref: 'mcp#/$defs/CallToolRequest' }, request) || ajv.errorsText()).toBe(true);
      const { result } = z.object({ result: z.unknown() }).parse(answer);
      expect(ajv.validate({ $ref: 'mcp#/$defs/CallToolResult' }, result) || ajv.errorsText()).toBe(true);
    }
  });

  test('refuses headers that say something else', async ({ signal }) => {
    const { write, read } = await ends('mcp');
    const binding = mcpHttp({ write, read });
    server = await CountingServer.start(new Map([['/x', binding.answer]]));
    const headers = { 'Mcp-Method': 'tools/call', 'Mcp-Name': 'other', 'MCP-Protocol-Version': '2026-07-28' };
    const [packet] = packets;
    if (packet === undefined) throw new Error('no packet');
    const body = new Uint8Array(write(packet));
    const reply = await fetch(server.url('/x'), { method: 'POST', headers, body, signal });
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain('Mcp-Name is other, the body has mesh.packet');
  });
});

describe('ANP over HTTP', () => {
  test('is accepted when the proof holds', async () => {
    const { heard } = await played(anpHttp(await ends('anp')));
    expect(heard.map(({ answer }) => answer)).toMatchObject(
      packets.map(({ id }) => ({ id, result: { accepted: true, message_id: id, operation_id: id } })),
    );
  });

  test('is refused when it does not', async ({ signal }) => {
    const { write, read } = await ends('anp');
    const forged = (packet: Parameters<typeof write>[0]) =>
      Buffer.from(write(packet).toString().replace('né', 'ne'));
    const binding = anpHttp({ write: forged, read });
    server = await CountingServer.start(new Map([['/x', binding.answer]]));
    const ask = await binding.connect(server.url('/x'));
    const [, second] = packets;
    if (second === undefined) throw new Error('no packet');
    await expect(ask(second, signal)).rejects.toThrow(
      expect.objectContaining({ code: 'packet', message: expect.stringContaining('came 400') }),
    );
  });
});
