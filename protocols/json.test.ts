import { copyHead } from '@gaia-mesh/core/contracts/packet.ts';
import { describe, expect, it } from 'vitest';
import { json } from './json.ts';
import { plainPacket } from './testing/packets.ts';
import { opened, refused } from './testing/session.ts';

const { codec, decode, peek } = opened(json);

const plainText = JSON.stringify(plainPacket);

describe('json', () => {
  it('is compact JSON in the order of the sender (MP-31)', () => {
    expect(Buffer.from(codec.encode(plainPacket)).toString()).toBe(plainText);
  });

  it.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['a byte order mark', `\ufeff${plainText}`],
    ['another kind of value', '[]'],
    ['no key', '{}'],
    ['a comma after the last member', plainText.replace(/\}$/, ',}')],
    ['a missing comma', plainText.replace(',"to"', '"to"')],
    ['a missing colon', plainText.replace('"type":', '"type"')],
    ['a missing brace', plainText.slice(0, -1)],
    ['text behind it', `${plainText} x`],
    ['an unknown key', plainText.replace('{', '{"cause":"x",')],
    ['a key __proto__', plainText.replace('{', '{"__proto__":{},')],
    ['a key without quotes', plainText.replace('"type"', 'type')],
    ['single quotes', plainText.replaceAll('"', "'")],
    ['a comment', plainText.replace('{', '{/**/')],
    ['an empty type', plainText.replace('"type":"triples"', '"type":""')],
    ['a long type', plainText.replace('"type":"triples"', `"type":"${'x'.repeat(65)}"`)],
    ['a type that is no text', plainText.replace('"type":"triples"', '"type":7')],
    ['a line end inside a text', plainText.replace('triples', 'tri\nples')],
    ['a bad escape', plainText.replace('triples', 'tri\\xples')],
    ['a lone surrogate', plainText.replace('triples', 'tri\\ud800ples')],
    ['an open text', plainText.replace('"x"', '"x')],
    ['tokens below 0', plainText.replace('"token_used":7', '"token_used":-1')],
    ['tokens as text', plainText.replace('"token_used":7', '"token_used":"7"')],
    ['half a token', plainText.replace('"token_used":7', '"token_used":0.5')],
    ['tokens beyond counting', plainText.replace('"token_used":7', '"token_used":9007199254740992')],
    ['endless tokens', plainText.replace('"token_used":7', '"token_used":1e999')],
    ['tokens with a leading zero', plainText.replace('"token_used":7', '"token_used":07')],
    ['no tokens', plainText.replace('"token_used":7', '"token_used":')],
    ['a ts that is no number', plainText.replace('"ts":1', '"ts":now')],
    ['no value', plainText.replace('"ts":1', '"ts":')],
    ['a ts that is no number', plainText.replace('"ts":1', '"ts":now')],
  ])('refuses %s, in a peek too', (_, text) => {
    expect(() => decode(text)).toThrow(refused);
    expect(() => peek(text)).toThrow(refused);
  });

  it('refuses what is not UTF-8', () => {
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
      const inType = Buffer.from(plainText.replace('triples', '#'.repeat(bytes.length)));
      inType.set(bytes, inType.indexOf('#'));
      expect(() => codec.decode(inType)).toThrow(refused);
      expect(() => peek(inType)).toThrow(refused);
    }
  });

  it.each([
    ['a brace too many', `${plainText}}`],
    ['two objects', plainText + plainText],
    ['a payload that is no object', plainText.replace('{"a":1}', '[1]')],
    ['a misplaced comma', plainText.replace('{"a":1}', '{"a":1,}')],
    ['brackets that do not match', plainText.replace('{"a":1}', '{"a":[1}')],
    ['deep nesting', plainText.replace('{"a":1}', `{"a":${'['.repeat(65)}${']'.repeat(65)}}`)],
    ['a key __proto__', plainText.replace('{"a":1}', '{"__proto__":1}')],
    ['a node id that names no node', plainText.replace('writer', '../writer')],
  ])('leaves %s to whoever decodes', (_, text) => {
    expect(peek(text)).toMatchObject({ type: 'triples', id: 'extractor-1-7' });
    expect(() => decode(text)).toThrow(refused);
  });

  it.each(['0', '10', '123456789', '1234567890', '9007199254740991', '1e2', '12.0', '-0'])(
    'reads %s tokens like JSON does',
    (number) => {
      const text = plainText.replace('"token_used":7', `"token_used":${number} `);
      expect(peek(text).token_used).toBe(JSON.parse(number));
      expect(decode(text).token_used).toBe(JSON.parse(number));
    },
  );

  it('sees what stands behind a payload that is not the last', () => {
    const behind = plainText.replace('"ts":1,"payload":{"a":1}', '"payload":{"a":"}{","b":[{}]},"ts":1');
    expect(peek(behind)).toStrictEqual(copyHead(plainPacket));
    expect(() => peek(behind.replace(/\}$/, ',"from":"another"}'))).toThrow(/from comes twice/);
    expect(() => peek(plainText.replace(/\}$/, ',"from":"another"}'))).toThrow(/from comes twice/);
    expect(() => decode(plainText.replace(/\}$/, ',"x":{}}'))).toThrow(refused);
  });

  it('finds the end of texts of every length, with and without escapes', () => {
    for (let length = 0; length < 200; length++) {
      for (const end of ['', '\\', '"', '\\"', 'é', '}', '{']) {
        const packet = { ...plainPacket, log_uri: 'x'.repeat(length) + end, tag: 'found' };
        expect(peek(JSON.stringify(packet))).toStrictEqual({ ...copyHead(plainPacket), tag: 'found' });
      }
    }
  });
});
