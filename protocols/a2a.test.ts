import { measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { a2a, buildSendMessageRequest, buildStreamResponse, isRequest, MESH_EXTENSION } from './a2a.ts';
import { contractSamples, fullPacket } from './contract/samples.ts';
import { goldenEnvelopes, invalidRequests, shownLike } from './testing/golden-envelopes.ts';
import { refused, testSession } from './testing/session.ts';
import { sharedJson } from './testing/shared-file.ts';

const codec = a2a.open(testSession);
/** Writes any packet as the request or as the event of another implementation. */
const writeRequest = (packet: Packet) =>
  toBlob({ jsonrpc: '2.0', id: packet.id, method: 'SendMessage', params: buildSendMessageRequest(packet) });
const writeEvent = (packet: Packet) =>
  toBlob({ jsonrpc: '2.0', id: packet.reply_to ?? 0, result: buildStreamResponse(packet) });
const toBlob = (envelope: object) => Buffer.from(JSON.stringify(envelope));

const { reply_to: _, tag: __, ...asked } = fullPacket;
const answer: Packet = { ...asked, reply_to: 'writer-3' };
const final: Packet = { ...asked, tag: 'final_answer' };
const failed: Packet = { ...asked, tag: 'task_failed' };

function envelopeOf(packet: Packet, write = codec.encode) {
  return JSON.parse(Buffer.from(write(packet)).toString());
}

function decode(text: string): Packet {
  return codec.decode(Buffer.from(text));
}

describe('a2a', () => {
  it('writes requests and broadcasts as SendMessage', () => {
    const { to: ___, ...broadcast } = asked;
    for (const packet of [asked, broadcast]) {
      expect(envelopeOf(packet)).toMatchObject({ id: packet.id, method: 'SendMessage' });
    }
  });

  it('writes answers as events on the stream of the request', () => {
    expect(envelopeOf(answer)).toMatchObject({
      id: 'writer-3',
      result: { artifactUpdate: { contextId: 't-1' } },
    });
  });

  it('writes what is tagged and answers nothing as events on the stream of the task', () => {
    for (const packet of [final, failed]) {
      expect(envelopeOf(packet)).toMatchObject({ id: 0, result: { artifactUpdate: { contextId: 't-1' } } });
    }
    expect(codec.decode(writeEvent(asked))).toStrictEqual(asked);
  });

  it('says lastChunk with the final answer only', () => {
    expect(envelopeOf(final).result.artifactUpdate.lastChunk).toBe(true);
    expect(envelopeOf(failed).result.artifactUpdate).not.toHaveProperty('lastChunk');
    expect(envelopeOf(answer).result.artifactUpdate).not.toHaveProperty('lastChunk');
  });

  it('never takes the task id of a packet for that of an A2A task', () => {
    expect(envelopeOf(asked).params.message).not.toHaveProperty('taskId');
    expect(envelopeOf(answer).result.artifactUpdate.taskId).not.toBe(answer.task_id);
  });

  it.each([
    ['another JSON-RPC', { jsonrpc: '1.0' }],
    ['another method', { method: 'message/send' }],
    ['another id than that of the message', { id: 'other' }],
    ['a number as id', { id: 1 }],
    ['a result beside the call', { result: {} }],
    ['parameters that are no object', { params: null }],
  ])('refuses a request with %s', (_what, change) => {
    expect(() => decode(JSON.stringify({ ...envelopeOf(asked), ...change }))).toThrow(refused);
  });

  it.each([
    ['another number as id', { id: 1 }],
    ['no id', { id: null }],
    ['an id that is too long', { id: 'x'.repeat(289) }],
    ['an error beside it', { error: {} }],
    ['another event', { result: { statusUpdate: {} } }],
  ])('refuses an event with %s', (_what, change) => {
    expect(() => decode(JSON.stringify({ ...envelopeOf(answer), ...change }))).toThrow(refused);
  });

  it.each([
    ['a role by its number', '"ROLE_USER"', '1'],
    ["the agent's role", '"ROLE_USER"', '"ROLE_AGENT"'],
    ['a role as 0.3 wrote it', '"ROLE_USER"', '"user"'],
    ['another media type', '"application/json"', '"text/plain"'],
    ['two parts', '"parts":[', '"parts":[{"data":{},"mediaType":"application/json"},'],
    ['a list as payload', /"data":\{.*?\},"mediaType"/, '"data":[],"mediaType"'],
    ['another extension', `["${MESH_EXTENSION}"]`, '["urn:x"]'],
    ['an extension more', `["${MESH_EXTENSION}"]`, `["${MESH_EXTENSION}","urn:x"]`],
    ['a node id that names no node', '"from":"extractor-1"', '"from":"../x"'],
    ['tokens as text', '"token_used":132', '"token_used":"132"'],
  ])('refuses %s', (_what, was, becomes) => {
    const text = JSON.stringify(envelopeOf(asked));
    const changed = text.replace(was, becomes);
    expect(changed).not.toBe(text);
    expect(() => decode(changed)).toThrow(refused);
  });

  it.each([
    ['another A2A task', '00000000-0000-4000-8000-000000000001', 't-1'],
    ['a final answer without lastChunk', ',"lastChunk":true', ''],
    ['lastChunk without a final answer', '"tag":"final_answer"', '"tag":"x"'],
    ['lastChunk that is false', '"lastChunk":true', '"lastChunk":false'],
    ['reply_to in the metadata', '"type":"triples"', '"type":"triples","reply_to":"writer-3"'],
  ])('refuses an event with %s', (_what, was, becomes) => {
    const text = JSON.stringify(envelopeOf(final));
    const changed = text.replace(was, becomes);
    expect(changed).not.toBe(text);
    expect(() => decode(changed)).toThrow(refused);
  });

  it.each([
    ['v0.3-kind-on-part', 'params.message.parts.0: unrecognized key "kind"'],
    ['missing-message-id', 'params.message.messageId: expected string, received undefined'],
    ['metadata-not-object', 'params.message.metadata: expected object, received array'],
    ['empty-parts', 'params.message.parts.0: expected object, received undefined'],
    ['snake-case-field', 'params.message: unrecognized key "context_id"'],
    ['no-message', 'params.message: expected object, received undefined'],
    ['extensions-not-array', 'params.message.extensions: expected array, received string'],
  ])('refuses the invalid example %s and says why', (name, reason) => {
    const example = invalidRequests.find((request) => request.name === name);
    expect(() => decode(example?.request ?? '')).toThrow(reason);
  });

  it('has tried every invalid example', () => expect(invalidRequests).toHaveLength(7));
});

describe('golden A2A envelopes', () => {
  it.each(goldenEnvelopes)(
    '$name as a request: bytes, packet and ledger row',
    ({ packet, a2aRequest, rows }) => {
      const blob = Buffer.from(isRequest(packet) ? codec.encode(packet) : writeRequest(packet));
      expect(shownLike(a2aRequest, blob, 'utf8')).toEqual(a2aRequest);
      expect(codec.decode(blob)).toStrictEqual(packet);
      if (isRequest(packet)) expect(measureLine(codec, packet, blob.length)).toMatchObject(rows.a2a);
    },
  );

  it.each(goldenEnvelopes)(
    '$name as an event: bytes, packet and ledger row',
    ({ packet, a2aEvent, rows }) => {
      // The golden events and rows have these JSON-RPC ids.
      const replying = { ...packet, reply_to: 'rpc-1' };
      expect(shownLike(a2aEvent, codec.encode(replying), 'utf8')).toEqual(a2aEvent);
      expect(codec.decode(codec.encode(replying))).toStrictEqual(replying);
      const inRow = { ...packet, reply_to: 'r1' };
      expect(measureLine(codec, inRow, codec.encode(inRow).length)).toMatchObject(rows['a2a-event']);
    },
  );
});

const schema = sharedJson('a2a/a2a-schema.json');

describe.skipIf(schema === undefined)('A2A 1.0 schema', () => {
  const ajv = new Ajv2020({ strict: false });
  if (schema !== undefined) ajv.addSchema(Object(schema), 'a2a');
  const accepts = (type: string, value: unknown) =>
    ajv.validate({ $ref: `a2a#/$defs/${type}` }, value) || ajv.errorsText();
  const packets = [...goldenEnvelopes, ...contractSamples].map(({ packet }) => packet);

  it('accepts the parameters of every request and the result of every event', () => {
    for (const packet of packets) {
      const { params } = envelopeOf(packet, writeRequest);
      expect(accepts('SendMessageRequest', params)).toBe(true);
      for (const replying of [packet, { ...packet, reply_to: 'r1' }]) {
        const { result } = envelopeOf(replying, writeEvent);
        expect(accepts('StreamResponse', result)).toBe(true);
      }
    }
  });

  it('refuses what is refused here', () => {
    for (const { request } of invalidRequests) {
      expect(accepts('SendMessageRequest', JSON.parse(request).params)).not.toBe(true);
    }
  });
});
