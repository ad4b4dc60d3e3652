import { measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { contractSamples, fullPacket } from './contract/samples.ts';
import { mcp } from './mcp.ts';
import { goldenEnvelopes, shownLike } from './testing/golden-envelopes.ts';
import { refused, testSession } from './testing/session.ts';
import { sharedJson } from './testing/shared-file.ts';

const codec = mcp.open(testSession);
const plainText = Buffer.from(codec.encode(fullPacket)).toString();

describe('mcp', () => {
  it('calls one tool, and says in each call which revision it speaks and who calls', () => {
    const { id, from, payload, ...rest } = fullPacket;
    expect(JSON.parse(plainText)).toEqual({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: {
        name: 'mesh.packet',
        arguments: { ...rest, payload },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: from, version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    });
  });

  it.each([
    ['another JSON-RPC', '"2.0"', '"1.0"'],
    ['another method', '"tools/call"', '"tools/list"'],
    ['the handshake of older revisions', '"tools/call"', '"initialize"'],
    ['an id that is a number', '"id":"extractor-1-7"', '"id":7'],
    ['another tool', '"mesh.packet"', '"mesh.other"'],
    ['an older revision', '"2026-07-28"', '"2025-11-25"'],
    ['another version of the client', '"version":"1"', '"version":"2"'],
    ['a name of the client that is no node', '"name":"extractor-1"', '"name":"../x"'],
    ['capabilities', 'clientCapabilities":{}', 'clientCapabilities":{"roots":{}}'],
    ['a progress token', '"_meta":{', '"_meta":{"progressToken":1,'],
    ['no metadata', /,"_meta":\{.*\}\}/, '}'],
    ['the sender among the arguments', '"type":"triples"', '"type":"triples","from":"extractor-1"'],
    ['a payload that is no object', /"payload":\{.*?\},"_meta"/, '"payload":[]},"_meta"'],
    ['tokens as text', '"token_used":132', '"token_used":"132"'],
  ])('refuses %s', (_what, was, becomes) => {
    const text = plainText.replace(was, becomes);
    expect(text).not.toBe(plainText);
    expect(() => codec.decode(Buffer.from(text))).toThrow(refused);
  });
});

describe('golden MCP calls', () => {
  it.each(goldenEnvelopes)('$name: bytes, packet and ledger row', ({ packet, mcp: golden, rows }) => {
    const blob = codec.encode(packet);
    expect(shownLike(golden, blob, 'utf8')).toEqual(golden);
    expect(codec.decode(blob)).toStrictEqual(packet);
    expect(measureLine(codec, packet, blob.length)).toMatchObject(rows.mcp);
  });
});

const schema = sharedJson('mcp/schema-2026-07-28.json');

describe.skipIf(schema === undefined)('MCP 2026-07-28 schema', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  if (schema !== undefined) ajv.addSchema(Object(schema), 'mcp');
  const accepts = (value: unknown) =>
    ajv.validate({ $ref: 'mcp#/$defs/CallToolRequest' }, value) || ajv.errorsText();

  it('accepts every call', () => {
    for (const { packet } of [...goldenEnvelopes, ...contractSamples]) {
      expect(accepts(JSON.parse(Buffer.from(codec.encode(packet)).toString()))).toBe(true);
    }
  });

  it('refuses calls without what the revision requires', () => {
    for (const key of ['protocolVersion', 'clientCapabilities']) {
      const call = JSON.parse(plainText);
      delete call.params._meta[`io.modelcontextprotocol/${key}`];
      expect(accepts(call)).not.toBe(true);
    }
  });
});
