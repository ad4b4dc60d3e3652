import { readFileSync } from 'node:fs';
import type { Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { type JsonObject, type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { chunkDocument } from '@gaia-mesh/core/contracts/task.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadEngine } from '../engines/registry.ts';
import {
  type ModelServer,
  type ModelServerRequest,
  type ScriptedReply,
  startModelServer,
} from '../fixtures/model-server.ts';
import { toolSurroundings } from '../fixtures/tool-surroundings.ts';
import { loadTool } from '../registry.ts';
import { eventsPayload, passagesPayload, triplesPayload } from './payloads.ts';

const STEPS = ['search', 'extract', 'triple', 'reason'] as const;
const prompts = (name: string) =>
  readFileSync(new URL(`../../config/prompts/${name}.md`, import.meta.url), 'utf8');
const taskFile = (name: string) =>
  readFileSync(new URL(`../../config/tasks/cairn-astel-light/${name}`, import.meta.url), 'utf8');
const chunks = chunkDocument(taskFile('document.txt'));
const truth: { question: string; answer: string } = JSON.parse(taskFile('ground_truth.json'));

/** Replies as a poor but valid reader: it takes the first chunks and sentences, and answers with the first capitalized words. */
function readHastily({ messages, schema }: ModelServerRequest): ScriptedReply {
  const sentence = /^\[0\] (.*)$/m.exec(messages.at(-1)?.content ?? '')?.[1] ?? '';
  const object = /\p{Lu}\p{L}+(?: \p{Lu}\p{L}+)*/u.exec(sentence)?.[0] ?? sentence;
  const keys = Object.keys(Object(schema?.properties));
  if (keys.includes('chunks')) return { content: { chunks: [0, 1] } };
  if (keys.includes('sentences')) return { content: { sentences: [0, 1] } };
  if (keys.includes('triples'))
    return { content: { triples: [{ sentence: 0, subject: 'it', relation: 'is', object }] } };
  return { content: { sentence: 0, answer: object } };
}

let server: ModelServer;
let engines: Record<'extractive' | 'ollama', Engine>;

beforeAll(async () => {
  server = await startModelServer(readHastily);
  engines = {
    extractive: await loadEngine('extractive', { prompts }),
    ollama: await loadEngine('ollama', { prompts, host: server.url }),
  };
});
afterAll(() => server.close());

/** Runs the four steps one after the other, as agents would; adapters can carry every packet. */
async function runSteps(question: string, document: readonly string[], engineOf: (step: string) => Engine) {
  const records: JsonObject[] = [];
  const sent: { packet: Packet; tokens: number }[] = [];
  let packet = packetOf('doc_init', { question, chunks: document });
  for (const step of STEPS) {
    const tool = await loadTool(step);
    expect(tool.accepts).toContain(packet.type);
    let tokens = 0;
    const run = tool.run(packet, {
      engine: engineOf(step),
      ...toolSurroundings,
      signal: new AbortController().signal,
      countTokens: (count) => {
        tokens += count;
      },
      record: (fileName, entry) => records.push({ fileName, ...entry }),
    });
    const emissions = await run.catch(toRefusal);
    const [emission] = emissions;
    if (emission === undefined || emissions.length > 1)
      throw new Error(`${step} sent ${emissions.length} packets`);
    expect(tool.emits).toContain(emission.type);
    packet = parsePacket({
      ...packetOf(emission.type, emission.payload),
      ...(emission.tag && { tag: emission.tag }),
    });
    sent.push({ packet, tokens });
  }
  return { answer: packet, records, sent };
}

/** Returns a refusal to answer as a packet, as an agent does; any other failure is one of the test. */
function toRefusal(error: unknown) {
  if (!(error instanceof MeshError) || !/^Not sure|no text to read/.test(error.message)) throw error;
  return [{ type: 'data_event', tag: 'task_failed', payload: { answer: error.message } }];
}

function packetOf(type: string, payload: JsonObject): Packet {
  return parsePacket({ type, from: 'node', id: 'node-1', task_id: 'task', token_used: 0, ts: 0, payload });
}

test('the embedded engine answers the question of a sample task (MP-17, MP-25)', async () => {
  const { answer, records, sent } = await runSteps(truth.question, chunks, () => engines.extractive);
  expect(answer).toMatchObject({
    type: 'data_event',
    tag: 'final_answer',
    payload: { answer: truth.answer },
  });
  expect(Object.keys(answer.payload)).toEqual(['answer']);
  expect(records).toMatchObject([{ fileName: 'reason.log', engine: 'extractive', answer: truth.answer }]);
  expect(String(records[0]?.evidence)).toContain(truth.answer);
  expect(sent.every(({ tokens }) => tokens > 0)).toBe(true);
});

test('the same question takes the same packets and tokens again', async () => {
  const once = await runSteps(truth.question, chunks, () => engines.extractive);
  expect(await runSteps(truth.question, chunks, () => engines.extractive)).toEqual(once);
});

test('a model answers through the same packets, and the tokens are its own (MP-75)', async () => {
  const before = server.requests.length;
  const { answer, sent } = await runSteps(truth.question, chunks, () => engines.ollama);
  expect(answer).toMatchObject({ type: 'data_event', tag: 'final_answer' });
  expect(answer.payload.answer).not.toBe('');
  expect(sent.map(({ tokens }) => tokens)).toEqual([110, 110, 110, 110]);
  const asked = server.requests.slice(before);
  expect(asked.map(({ schema }) => Object.keys(Object(schema?.properties))[0])).toEqual([
    'chunks',
    'sentences',
    'triples',
    'thoughts',
  ]);
  for (const { messages } of asked) expect(messages[1]?.content).toContain(truth.question);
  expect(asked[3]?.messages[1]?.content).toContain('reason final');
});

test.each(['search', 'extract', 'triple', 'search triple', 'extract reason', 'extract triple reason'])(
  'engines mix: a model for %s, the embedded one elsewhere',
  async (asked) => {
    const engineOf = (step: string) =>
      asked.split(' ').includes(step) ? engines.ollama : engines.extractive;
    const { answer } = await runSteps(truth.question, chunks, engineOf);
    expect(answer.tag).toMatch(/^(?:final_answer|task_failed)$/);
    expect(answer.payload.answer).not.toBe('');
  },
);

describe.each(['extractive', 'ollama'] as const)('with the %s engine', (name) => {
  test.each([
    ['an empty document', []],
    ['a blank document', ['  \n ']],
    ['characters beyond the first plane', chunkDocument(`a${'😀'.repeat(900)}`)],
    ['a heading of such', chunkDocument(`b${'😀'.repeat(43)}\n\n${'😀 is what it is. '.repeat(20)}`)],
    ['one word without end', chunkDocument('x'.repeat(5_000))],
  ])('%s comes to an end', async (_, document) => {
    const { answer } = await runSteps('Who?', document, () => engines[name]);
    expect(answer.payload).toEqual({ answer: expect.any(String) });
  });
});

describe('what a model may get wrong', () => {
  async function runWith(step: string, content: JsonObject) {
    const fixture = await startModelServer([{ content }]);
    try {
      const engine = await loadEngine('ollama', { prompts, host: fixture.url });
      return await runSteps(truth.question, chunks, (name) => (name === step ? engine : engines.extractive));
    } finally {
      await fixture.close();
    }
  }

  test('chunks that are not there, or named twice, are passed over', async () => {
    const { sent } = await runWith('search', { chunks: [9_999, 5, 5, 999_999] });
    const [passage, ...more] = passagesPayload.parse(sent[0]?.packet.payload).passages;
    expect(passage).toEqual({ first: 4, last: 6, text: chunks.slice(4, 7).join('') });
    expect(more).toEqual([]);
  });

  test('without a chunk the document is read from its beginning', async () => {
    const { sent } = await runWith('search', { chunks: [] });
    expect(sent[0]?.packet.payload.passages).toMatchObject([{ first: 0, last: 8 }]);
  });

  test('sentences keep the order that the model gave them', async () => {
    const { sent } = await runWith('extract', { sentences: [3, 1, 3, 9_999, 2] });
    const { events } = eventsPayload.parse(sent[1]?.packet.payload);
    expect(events).toHaveLength(3);
    expect(events.map(({ score }) => score)).toEqual(events.map(({ score }) => score).sort((a, b) => b - a));
  });

  test('an object is kept where it stands in a sentence, and in the model’s own words with a sentence', async () => {
    const claim = { sentence: 5, subject: 's'.repeat(500), relation: 'is' };
    const { sent } = await runWith('triple', {
      triples: [
        { ...claim, object: 'no such words' },
        { ...claim, object: truth.answer },
        { ...claim, object: ' ' },
      ],
    });
    const { sentences, triples } = triplesPayload.parse(sent[2]?.packet.payload);
    expect(triples.map(({ object }) => object)).toEqual(['no such words', truth.answer]);
    const [worked, found] = triples;
    expect(worked).toMatchObject({ sentence: 0, start: 0 });
    expect(sentences[found?.sentence ?? -1]?.text.indexOf(truth.answer)).toBe(found?.start);
  });

  test('without one usable triple the sentences themselves are the candidates', async () => {
    const { sent } = await runWith('triple', { triples: [] });
    const { sentences, triples } = triplesPayload.parse(sent[2]?.packet.payload);
    expect(triples).toHaveLength(sentences.length);
  });

  test('an answer is trimmed and bounded; a sentence that is not there is no evidence', async () => {
    const { answer, records } = await runWith('reason', { sentence: 99, answer: ` ${'a'.repeat(5_000)}` });
    expect(answer.payload.answer).toMatch(/^a{100,1000}$/);
    expect(records.filter(({ fileName }) => fileName === 'reason.log')).toMatchObject([
      { engine: 'ollama', evidence: '' },
    ]);
  });
});

test('a long document is narrowed down before a model sees it', async () => {
  const long = Array.from({ length: 30 }, () => chunks).flat();
  const before = server.requests.length;
  await runSteps(truth.question, long, () => engines.ollama);
  const prompt = server.requests[before]?.messages[1]?.content ?? '';
  expect(prompt.length).toBeLessThan(24_000);
  expect(prompt).toContain(truth.answer);
});
