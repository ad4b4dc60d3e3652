import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LLAMA_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { expect, test } from 'vitest';
import { readGguf } from './gguf.ts';
import { checkMemory } from './launch-model.ts';
import { isLooping } from './local-model.ts';
import { findModels } from './model-files.ts';

function uint32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}

function length(number: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  return bytes;
}

const text = (words: string) => Buffer.concat([length(Buffer.byteLength(words)), Buffer.from(words)]);
const value = (key: string, given: string | number) =>
  typeof given === 'string' ? [text(key), uint32(8), text(given)] : [text(key), uint32(4), uint32(given)];

const FACTS = [
  value('general.architecture', 'llama'),
  value('general.name', 'Tiny'),
  value('llama.context_length', 2048),
  value('llama.block_count', 4),
  value('llama.embedding_length', 64),
  value('llama.attention.head_count', 4),
  value('llama.attention.head_count_kv', 2),
];

/** Builds the header of a GGUF file. @param missing values that it claims to have besides */
function buildGguf(more: readonly Buffer[][] = [], missing = 0, facts = FACTS.length): Buffer {
  const values = [...FACTS.slice(0, facts), ...more];
  const begin = [Buffer.from('GGUF'), uint32(3), length(0), length(values.length + missing)];
  return Buffer.concat([...begin, ...values.flat()]);
}

const folder = mkdtempSync(path.join(tmpdir(), 'gguf-'));
let files = 0;
function write(bytes: Buffer): string {
  files += 1;
  const file = path.join(folder, `${files}.gguf`);
  writeFileSync(file, bytes);
  return file;
}

test('the facts of a model are those of its header, whatever stands between them', () => {
  const list = [uint32(9), uint32(8), length(2), text('en'), text('de')];
  const file = write(buildGguf([value('general.license', 'mit'), [text('general.languages'), ...list]]));
  expect(readGguf(file)).toEqual({
    bytes: expect.any(Number),
    architecture: 'llama',
    name: 'Tiny',
    license: 'mit',
    contextTokens: 2048,
    // Keys and values of 4 layers with 2 heads of 16 numbers of 16 bits.
    contextBytes: 2 * 2 * 4 * 2 * 16,
  });
});

test('nothing behind the tables of the tokenizer is read', () => {
  const file = write(Buffer.concat([buildGguf([value('tokenizer.ggml.model', 'gpt2')], 3), Buffer.alloc(3)]));
  expect(readGguf(file)).toMatchObject({ architecture: 'llama' });
});

test.each([
  ['another format', Buffer.from('PK\x03\x04 not a model'), 'it does not begin with GGUF'],
  ['no bytes', Buffer.alloc(0), 'it ends in its header'],
  ['a torn header', buildGguf().subarray(0, 90), 'it ends in its header'],
  ['an old version', Buffer.concat([Buffer.from('GGUF'), uint32(1)]), 'its version 1 is not 2 or 3'],
  ['no architecture', buildGguf([], 0, 0), 'it names no architecture'],
  [
    'too many values',
    Buffer.concat([Buffer.from('GGUF'), uint32(3), length(0), length(LLAMA_LIMITS.headerValues + 1)]),
    'it claims to have 10001 values',
  ],
  [
    'a text without an end',
    Buffer.concat([Buffer.from('GGUF'), uint32(3), length(0), length(1), length(2 ** 40)]),
    'it claims to have 1099511627776 bytes of text',
  ],
  ['an unknown type', buildGguf([[text('x'), uint32(77)]]), 'it has a value of the unknown type 77'],
])('a file with %s is refused in a sentence', (_what, bytes, words) => {
  const file = write(bytes);
  expect(() => readGguf(file)).toThrow(`model ${file}: expected a GGUF file, but ${words}`);
});

test('a missing file and a folder are refused in a sentence', () => {
  expect(() => readGguf('/nowhere/m.gguf')).toThrow('model /nowhere/m.gguf: there is no such file');
  expect(() => readGguf(folder)).toThrow('expected a GGUF file, not a folder');
});

test('a model that needs more memory than is free is refused before it is loaded, and one that fits is not', () => {
  const facts = { bytes: 1e9, contextBytes: 1e5 };
  const needed = 1e9 + 1e5 * 8192 + LLAMA_LIMITS.overheadBytes;
  expect(() => checkMemory('m.gguf', facts, 8192, needed)).not.toThrow();
  expect(() => checkMemory('m.gguf', facts, 8192, needed - 1)).toThrow(
    'm.gguf: it needs about 2.1 GB of memory with a context of 8192 tokens, and 2.1 GB are free',
  );
});

test('models are found in the folders of other programs, each once', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'home-'));
  const put = (name: string, bytes: Buffer | string) => {
    const file = path.join(home, ...name.split('/'));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    return file;
  };
  const model = buildGguf();
  put('.ollama/models/blobs/sha256-abc', model);
  const layers = [{ mediaType: 'application/vnd.ollama.image.model', digest: 'sha256:abc' }];
  put('.ollama/models/manifests/host/library/tiny/1b', JSON.stringify({ layers }));
  put('.lmstudio/models/maker/tiny-00001-of-00002.gguf', model);
  put('.lmstudio/models/maker/tiny-00002-of-00002.gguf', model);
  put('.lmstudio/models/maker/half.gguf', model.subarray(0, 20));
  put('.cache/huggingface/hub/models--a--b/snapshots/1/mmproj-b.gguf', model);
  put('.cache/huggingface/hub/models--a--b/snapshots/1/b.gguf', model);
  const { models } = findModels({ XDG_CACHE_HOME: path.join(home, '.cache') }, home);
  expect(models.map(({ from, name }) => [from, name])).toEqual([
    ['Ollama', 'tiny:1b'],
    ['Hugging Face', 'b.gguf'],
    ['LM Studio', 'tiny-00001-of-00002.gguf'],
  ]);
});

test('a reply that repeats a cycle is in a loop, and one that counts is not', () => {
  const cycle = (length: number, count: number) =>
    Array.from({ length: count }, (_, index) => index % length);
  expect(isLooping(cycle(1, 96))).toBe(true);
  expect(isLooping(cycle(7, 104))).toBe(true);
  expect(isLooping(cycle(64, 384))).toBe(true);
  expect(isLooping(cycle(1, 88))).toBe(false);
  expect(isLooping(cycle(64, 376))).toBe(false);
  expect(isLooping(cycle(65, 800))).toBe(false);
  expect(isLooping([...cycle(1, 95), 2])).toBe(false);
});
