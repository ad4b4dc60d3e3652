import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { copyHead, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { describe, expect, it } from 'vitest';
import { buildSendMessageRequest, buildStreamResponse, MESH_EXTENSION } from './a2a.ts';
import { a2aProto, createProtoCodec } from './a2a-proto.ts';
import { fullPacket } from './contract/samples.ts';
import { goldenEnvelopes, shownLike } from './testing/golden-envelopes.ts';
import { refused, testSession } from './testing/session.ts';

const codec = a2aProto.open(testSession);
const buildResponse = (packet: Packet) => buildStreamResponse(packet, packet.reply_to);
const requests = createProtoCodec(buildSendMessageRequest);
const responses = createProtoCodec(buildResponse);

const { reply_to: _, tag: __, ...asked } = fullPacket;
const request = Buffer.from(requests.encode(asked));
const response = Buffer.from(responses.encode(fullPacket));
const part = { data: asked.payload, mediaType: 'application/json' };

describe('a2a-proto', () => {
  it('writes requests and broadcasts as SendMessageRequest, what answers or is tagged as StreamResponse', () => {
    const { to: ___, ...broadcast } = asked;
    for (const packet of [asked, broadcast]) expect(codec.encode(packet)[0]).toBe((2 << 3) | 2);
    for (const packet of [fullPacket, { ...asked, reply_to: 'x' }, { ...asked, tag: 'x' }]) {
      expect(codec.encode(packet)[0]).toBe((4 << 3) | 2);
    }
  });

  it('reads either of any packet that fits it', () => {
    const tagged: Packet = { ...asked, tag: 'final_answer' };
    expect(codec.decode(requests.encode(tagged))).toStrictEqual(tagged);
    expect(codec.decode(responses.encode(asked))).toStrictEqual(asked);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a request and a response', Buffer.concat([request, response])],
    ['two requests', Buffer.concat([request, request])],
    ['a tenant before the request', Buffer.concat([Buffer.from('0a0174', 'hex'), request])],
    ['a configuration behind the request', Buffer.concat([request, Buffer.from('1a00', 'hex')])],
    ['a task, which is another response', Buffer.from('0a00', 'hex')],
    ['a request that is empty', Buffer.from('1200', 'hex')],
    ['a response that is empty', Buffer.from('2200', 'hex')],
    ['a number where a message belongs', Buffer.from('1000', 'hex')],
    ['a group where a message belongs', Buffer.from('1314', 'hex')],
    ['the id of an A2A task in a message', withField(request, 0x1a)],
    ['the context twice', withField(request, 0x12)],
    ['reply_to in a request', messageWith({ metadata: metadataWith({ reply_to: 'writer-3' }) })],
    ['an unknown key of the metadata', messageWith({ metadata: metadataWith({ cause: 'x' }) })],
    ['the role of an agent', messageWith({ role: 'ROLE_AGENT' })],
    ['a role that there is not', messageWith({ role: 'ROLE_UNSPECIFIED' })],
    ['no role', messageWith({ role: undefined })],
    ['no id', messageWith({ messageId: undefined })],
    ['an empty id', messageWith({ messageId: '' })],
    ['two parts', messageWith({ parts: [part, part] })],
    ['no part', messageWith({ parts: [] })],
    ['a part of another media type', messageWith({ parts: [{ ...part, mediaType: 'text/plain' }] })],
    ['a part without data', messageWith({ parts: [{ mediaType: 'application/json' }] })],
    ['another extension', messageWith({ extensions: ['urn:x'] })],
    ['metadata of another extension', messageWith({ metadata: { 'urn:x': {} } })],
    ['half a token', messageWith({ metadata: metadataWith({ token_used: 0.5 }) })],
    ['endless tokens', messageWith({ metadata: metadataWith({ token_used: Number.POSITIVE_INFINITY }) })],
    ['another A2A task', updateWith({ taskId: 't-1' })],
    ['a final answer without lastChunk', updateWith({ lastChunk: undefined })],
    ['lastChunk that is false', updateWith({ lastChunk: false })],
  ])('refuses %s, in a peek too', (_what, blob) => {
    expect(() => codec.decode(blob)).toThrow(refused);
    expect(() => codec.peek?.(blob)).toThrow(refused);
  });

  it.each([
    ['a text', 'x'],
    ['a list', []],
    ['what is no number', { number: Number.NaN }],
  ])('leaves %s as payload to whoever decodes', (_what, data) => {
    const blob = messageWith({ parts: [{ ...part, data }] });
    expect(() => codec.decode(blob)).toThrow(refused);
    expect(codec.peek?.(blob)).toStrictEqual(copyHead(asked));
  });
});

describe('golden A2A protobuf', () => {
  it.each(goldenEnvelopes)('$name as a request: bytes and packet', ({ packet, a2aRequestProto }) => {
    const blob = requests.encode(packet);
    expect(shownLike(a2aRequestProto, blob, 'hex')).toEqual(a2aRequestProto);
    expect(codec.decode(blob)).toStrictEqual(packet);
    expect(requests.headerSize(packet)).toBe(measureLine(requests, packet, blob.length).header_size);
  });

  it.each(goldenEnvelopes)('$name as a response: bytes and packet', ({ packet, a2aEventProto }) => {
    const blob = responses.encode(packet);
    expect(shownLike(a2aEventProto, blob, 'hex')).toEqual(a2aEventProto);
    expect(codec.decode(blob)).toStrictEqual(packet);
  });
});

function metadataWith(change: object) {
  const { type, from, to, token_used, log_uri, ts } = asked;
  return { [MESH_EXTENSION]: { type, from, to, token_used, log_uri, ts, ...change } };
}

/** Returns a request with a changed message. */
function messageWith(change: object): Uint8Array {
  const { message } = buildSendMessageRequest(asked);
  return createProtoCodec(() => ({ message: { ...message, ...change } })).encode(asked);
}

/** Returns a response with a changed final answer. */
function updateWith(change: object): Uint8Array {
  const { artifactUpdate } = buildResponse(fullPacket);
  return createProtoCodec(() => ({ artifactUpdate: { ...artifactUpdate, ...change } })).encode(fullPacket);
}

/** Returns a request with one more field, a text, at the end of its message. */
function withField(blob: Uint8Array, tag: number): Uint8Array {
  const reader = new BinaryReader(blob);
  const writer = new BinaryWriter().uint32(reader.uint32()).fork();
  return writer.raw(reader.bytes()).uint32(tag).string('t-1').join().finish();
}
