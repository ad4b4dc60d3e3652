import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { parseJson } from './scan/json.ts';
import { createHeaderSize } from './scan/scanner.ts';
import { createLook, createShape } from './scan/shape.ts';

/**
 * Model Context Protocol 2026-07-28: every packet is a call of one tool (`tools/call`). The protocol is
 * stateless, so each call repeats in `_meta` which revision it speaks, who calls and what the caller can do.
 * MCP lets a call carry more (progress tokens, log levels, titles), for which a packet has no place.
 * `docs/protocols.md` lists the deviations.
 */
export const mcp: ProtocolAdapter = {
  name: 'mcp',
  open: () => ({ encode, decode, headerSize: createHeaderSize(encode, '{}'.length), peek }),
};

function buildToolCall({ from, id, ...rest }: Packet) {
  const { type, to, reply_to, task_id, tag, token_used, log_uri, ts, payload } = rest;
  return {
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: {
      name: 'mesh.packet',
      arguments: { type, to, reply_to, task_id, tag, token_used, log_uri, ts, payload },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: from, version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  };
}

const call = createShape(buildToolCall);
const { peek, checkKeys } = createLook([buildToolCall]);

function encode(packet: Packet): Uint8Array {
  return Buffer.from(JSON.stringify(buildToolCall(packet)));
}

function decode(blob: Uint8Array): Packet {
  const packet = call.read(parseJson(blob));
  checkKeys(blob);
  return packet;
}
