import { describe, expect, it } from 'vitest';
import { arena } from '../core/arena.ts';
import { frameOf } from '../core/frame.ts';
import { MAX_FRAME_BYTES } from '../core/limits.ts';
import { HEAD_LENGTHS } from '../core/packet.ts';
import { SLAB_BYTES } from '../core/slab.ts';
import { jsonScan } from './json-scan.ts';

const memory = arena.take(SLAB_BYTES) ?? Buffer.alloc(0);
const texts = {
  before: Buffer.from('{"type":"note","from":"2","id":"'),
  between: Buffer.from('","task_id":"t","token_used":'),
};

const packet = ({
  id = '2-1',
  tokens = '7',
  ts = '1700000000000',
  payload = '{"text":"x"}',
  end = '}',
} = {}) =>
  `{"type":"note","from":"2","id":"${id}","task_id":"t","token_used":${tokens},"ts":${ts},"payload":${payload}${end}`;

/** What is found of frames that lie at `offset` of the memory, and their tokens. */
function count(blobs: readonly string[], offset = 0, behind = '}'): [number, number] {
  const frames = Buffer.concat(blobs.map((text) => frameOf(Buffer.from(text))));
  memory.fill(behind);
  frames.copy(memory, offset);
  const start = memory.byteOffset + offset;
  return [jsonScan().count(texts, start, start + frames.length, MAX_FRAME_BYTES), jsonScan().tokens];
}

describe('the scan of JSON packets in the arena', () => {
  it.each([0, 1, 2, 3, 7])('counts packets and tokens, wherever they lie: at %i', (offset) => {
    const blobs = Array.from({ length: 100 }, (_, n) =>
      packet({ id: `2-${n}`, tokens: String(n), payload: `{"text":"${'x'.repeat(n)}"}` }),
    );
    expect(count(blobs, offset)).toEqual([100, 4950]);
    expect(count(blobs, offset, '{')).toEqual([100, 4950]);
  });

  it('counts up to the first packet that is not plainly of the head', () => {
    const other = packet().replace('note', 'nota');
    expect(count([packet(), packet(), other, packet()])).toEqual([2, 14]);
    expect(count([other, packet()])).toEqual([0, 0]);
  });

  it('looks at no frame that is not whole', () => {
    const whole = frameOf(Buffer.from(packet()));
    memory.fill('}');
    whole.copy(memory);
    const start = memory.byteOffset;
    for (let bytes = 0; bytes < whole.length; bytes++)
      expect(jsonScan().count(texts, start, start + bytes, MAX_FRAME_BYTES)).toBe(0);
    expect(jsonScan().count(texts, start, start + whole.length, MAX_FRAME_BYTES)).toBe(1);
    expect(jsonScan().count(texts, start, start + whole.length + 3, MAX_FRAME_BYTES)).toBe(1);
    expect(jsonScan().end).toBe(start + whole.length);
  });

  it('looks at no frame that is longer than frames may be', () => {
    const frame = frameOf(Buffer.from(packet()));
    frame.copy(memory);
    const start = memory.byteOffset;
    const count = (maxBytes: number) => jsonScan().count(texts, start, start + frame.length, maxBytes);
    expect(count(packet().length)).toBe(1);
    expect(count(packet().length - 1)).toBe(0);
  });

  it.each([0xffff_ffff, 0xffff_fff0, 0x8000_0000])('sees that a frame of %i bytes is not whole', (length) => {
    const frame = frameOf(Buffer.from(packet()));
    frame.writeUInt32BE(length);
    frame.copy(memory);
    const start = memory.byteOffset;
    expect(jsonScan().count(texts, start, start + frame.length, 0xffff_ffff)).toBe(0);
  });

  it.each([
    ['the longest id', { id: 'i'.repeat(HEAD_LENGTHS.id) }, 1],
    ['an id that is too long', { id: 'i'.repeat(HEAD_LENGTHS.id + 1) }, 0],
    ['no id', { id: '' }, 0],
    ['an id with an escape', { id: '\\n' }, 0],
    ['an id with a control character', { id: '\n' }, 0],
    ['an id that is not ASCII', { id: 'é' }, 0],
    ['an id with a DEL', { id: '\u007f' }, 0],
    ['the highest tokens', { tokens: '999999999' }, 1],
    ['more tokens', { tokens: '1000000000' }, 0],
    ['no tokens', { tokens: '' }, 0],
    ['a zero in front', { tokens: '07' }, 0],
    ['zero tokens', { tokens: '0' }, 1],
    ['a fraction', { tokens: '1.5' }, 0],
    ['a minus', { tokens: '-1' }, 0],
    ['the longest time', { ts: '9'.repeat(15) }, 1],
    ['a longer time', { ts: '9'.repeat(16) }, 0],
    ['no time', { ts: '' }, 0],
    ['an empty payload', { payload: '{}' }, 1],
    ['a payload with a } in it', { payload: '{"text":"}"}' }, 0],
    ['a payload in a payload', { payload: '{"a":{}}' }, 0],
    ['a payload that is no object', { payload: '[]' }, 0],
    ['nothing behind the payload', { end: '' }, 0],
    ['something behind the payload', { end: ',"x":1}' }, 0],
    ['a blank behind the payload', { end: ' }' }, 0],
  ])('finds plain packets alone: %s', (_, change, expected) => {
    expect(count([packet(change)])[0]).toBe(expected);
    // The same behind packets that differ in id, time and payload alone, which are compared with the last one as a whole.
    const alike = Array.from({ length: 5 }, (_, n) => packet({ id: `2-${n}`, ts: `170000000000${n}` }));
    const [packets, tokens] = count([...alike, packet(change), ...alike]);
    expect(packets).toBe(expected === 0 ? 5 : 11);
    expect(tokens).toBe(expected === 0 ? 35 : 70 + Number('tokens' in change ? change.tokens : 7));
  });

  it.each([
    ['an id with a blank', { id: '2 0' }, 1],
    ['an id with a quote', { id: '2"0' }, 0],
    ['an id with a backslash', { id: '2\\0' }, 0],
    ['an id with a DEL', { id: '2\u007f0' }, 0],
    ['an id with a control character', { id: '2\n0' }, 0],
    ['an id that ends early', { id: '2"', ts: '17000000000000' }, 0],
    ['a time with a letter', { ts: '17000000000x0' }, 0],
    ['other tokens', { tokens: '8' }, 1],
    ['tokens that are none', { tokens: 'x' }, 0],
    ['a } at the beginning of the payload', { payload: '{}text":"x"}' }, 0],
    ['a } far behind the beginning of the payload', { payload: `{"text":"${'x'.repeat(99)}}"}` }, 0],
    ['a payload with a backslash', { payload: '{"\\n":"x"}' }, 1],
    ['a payload of another length', { payload: `{"text":"${'x'.repeat(300)}"}` }, 1],
    ['an empty payload', { payload: '{}' }, 1],
    ['a payload that ends the packet', { payload: '{"text":"x"', end: '}' }, 0],
  ])('of packets that lie side by side and have texts of equal length: %s', (_, change, expected) => {
    const alike = Array.from({ length: 5 }, (_, n) => packet({ id: `2-${n}`, ts: `170000000000${n}` }));
    expect(count([...alike, packet(change), ...alike])[0]).toBe(expected === 0 ? 5 : 11);
  });

  it('takes a head that is longer than it is compared with as a whole', () => {
    const long = {
      before: Buffer.from(`{"type":"note","from":"2","id":"`),
      between: Buffer.from(`","task_id":"${'t'.repeat(900)}","token_used":`),
    };
    const blob = packet().replace('"task_id":"t"', `"task_id":"${'t'.repeat(900)}"`);
    const frames = Buffer.concat(Array.from({ length: 5 }, () => frameOf(Buffer.from(blob))));
    frames.copy(memory);
    const start = memory.byteOffset;
    expect(jsonScan().count(long, start, start + frames.length, MAX_FRAME_BYTES)).toBe(5);
    expect(count([packet(), packet(), packet()])).toEqual([3, 21]);
  });

  it('takes no head whose text has no room there', () => {
    const long = { ...texts, between: Buffer.alloc(3000, 'x') };
    expect(jsonScan().count(long, memory.byteOffset, memory.byteOffset + 100, MAX_FRAME_BYTES)).toBe(0);
    expect(count([packet()])).toEqual([1, 7]);
  });

  it('stays within the arena at its very end', () => {
    // All that is left of it.
    let last = memory;
    for (let bytes = SLAB_BYTES; bytes >= 1024; ) {
      const next = arena.take(bytes);
      if (next === undefined) bytes /= 2;
      else last = next;
    }
    const frame = frameOf(Buffer.from(packet()));
    const start = last.byteOffset + last.length - frame.length;
    frame.copy(last, last.length - frame.length);
    expect(jsonScan().count(texts, start, start + frame.length, MAX_FRAME_BYTES)).toBe(1);
    // Digits and an id that go on behind it: what they are compared with lies there, too.
    last.fill('9', last.length - 64);
    expect(jsonScan().count(texts, start, start + frame.length, MAX_FRAME_BYTES)).toBe(0);
  });
});
