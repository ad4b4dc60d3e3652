import * as z from 'zod';
import type { ProtocolAdapter } from '../core/adapter.ts';
import { PREFIX_BYTES } from '../core/frame.ts';
import { type Packet, parsePacket } from '../core/packet.ts';
import { checked } from './checked.ts';
import { parseJson } from './json-scanner.ts';
import { peekFor } from './json-shape.ts';

/**
 * Model Context Protocol 2026-07-28: every packet is a call of one tool (`tools/call`). The protocol is stateless, so each call
 * says again in `_meta` which revision it speaks, who calls and what the caller can. Deviations are in `docs/protocols.md`.
 */
export const mcp: ProtocolAdapter = {
  name: 'mcp',
  open: () => ({ encode, decode, headerSize, peek }),
};

const TOOL = 'mesh.packet';
const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const REVISION = '2026-07-28';
const CLIENT_VERSION = '1';

function textOf(packet: Packet): string {
  const { type, from, to, id, reply_to, task_id, tag, token_used, log_uri, ts, payload } = packet;
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: {
      name: TOOL,
      arguments: { type, to, reply_to, task_id, tag, token_used, log_uri, ts, payload },
      _meta: {
        [PROTOCOL_VERSION]: REVISION,
        [CLIENT_INFO]: { name: from, version: CLIENT_VERSION },
        [CLIENT_CAPABILITIES]: {},
      },
    },
  });
}

/** Only what the mesh writes: MCP would let a call have more (progress tokens, log levels, titles), a packet has no place for it. */
const requestSchema = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.string(),
  method: z.literal('tools/call'),
  params: z.strictObject({
    name: z.literal(TOOL),
    arguments: z.strictObject({
      type: z.string(),
      to: z.string().exactOptional(),
      reply_to: z.string().exactOptional(),
      task_id: z.string(),
      tag: z.string().exactOptional(),
      token_used: z.number(),
      log_uri: z.string().exactOptional(),
      ts: z.number(),
      payload: z.unknown(),
    }),
    _meta: z.strictObject({
      [PROTOCOL_VERSION]: z.literal(REVISION),
      [CLIENT_INFO]: z.strictObject({ name: z.string(), version: z.literal(CLIENT_VERSION) }),
      [CLIENT_CAPABILITIES]: z.strictObject({}),
    }),
  }),
});

function encode(packet: Packet): Uint8Array {
  return Buffer.from(textOf(packet));
}

function decode(blob: Uint8Array): Packet {
  const { id, params } = checked(requestSchema, parseJson(blob));
  const packet = parsePacket({ ...params.arguments, id, from: params._meta[CLIENT_INFO].name });
  // Only the bytes still show a key that came twice.
  peek(blob);
  return packet;
}

function headerSize(packet: Packet): number {
  return PREFIX_BYTES + Buffer.byteLength(textOf({ ...packet, payload: {} })) - '{}'.length;
}

const peek = peekFor({
  jsonrpc: 'skip',
  id: 'id',
  method: 'skip',
  params: {
    name: 'skip',
    arguments: {
      type: 'type',
      to: 'to',
      reply_to: 'reply_to',
      task_id: 'task_id',
      tag: 'tag',
      token_used: 'token_used',
      log_uri: 'log_uri',
      ts: 'ts',
      payload: 'payload',
    },
    _meta: {
      [PROTOCOL_VERSION]: 'skip',
      [CLIENT_INFO]: { name: 'from', version: 'skip' },
      [CLIENT_CAPABILITIES]: 'skip',
    },
  },
});
