import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';
import type { Part, Said, Task } from './part.ts';
import { splitSentences, type Texts } from './texts.ts';

const TASKS = 6;

/** Quotes in other scripts, which take more than one byte per character in UTF-8, and more tokens. */
const QUOTES = [
  'Der Turm steht seit 1868 auf dem Felsen, und an stürmischen Tagen hört man ihn singen.',
  'Ο φάρος άναψε για πρώτη φορά ένα βράδυ του Οκτωβρίου· οι ψαράδες τον είδαν από μακριά.',
  '灯台は島の北西にあり、霧の日には鐘が鳴らされた。',
  'Маяк построили за семь лет, и каменщики жили на скале с весны до осени.',
  'दीपस्तंभ की रोशनी पहली बार अक्टूबर की शाम को जली।',
  'Le gardien notait tout : le vent, la houle, les oiseaux 🐦 et les bateaux ⛵.',
] as const;

/**
 * Traffic of a question, hits, a plan, a draft, remarks and a second draft: from 150 bytes to 5 kB, in
 * several languages.
 */
export const mixed: Part = {
  name: 'mixed',
  about: 'question, hits, plan, draft and remarks in several languages: 150 bytes to 5 kB a packet',
  tasks: (random, texts) => Array.from({ length: TASKS }, (_, index) => drawTask(random, texts, index)),
};

function drawTask(random: Random, texts: Texts, index: number): Task {
  const { name, paragraphs } = texts[index % texts.length] ?? { name: '', paragraphs: [] };
  const sentences = paragraphs.flatMap(({ text }) => splitSentences(text));
  const some = (count: number) =>
    Array.from({ length: count }, () => sentences[random.integer(sentences.length)] ?? '');
  const quote = QUOTES[index % QUOTES.length] ?? '';
  const said: Said[] = [];
  const say = (packet: Said) => said.push(packet) - 1;
  const [wanted = ''] = some(1);
  const lookups = ['worker-1', 'worker-2'].map((worker) => {
    const query = { text: wanted.slice(0, 80), limit: 4, filters: { source: name, language: ['en', 'de'] } };
    const asked = say({
      type: 'lookup.call',
      from: 'coordinator',
      to: worker,
      cause: -1,
      payload: { query },
    });
    return say({
      type: 'lookup.result',
      from: worker,
      to: 'coordinator',
      cause: asked,
      isReply: true,
      payload: { hits: drawHits(random, name, some(4)), total: 40 + random.integer(400), truncated: true },
    });
  });
  const planned = say({
    type: 'plan',
    from: 'coordinator',
    cause: lookups.at(-1) ?? -1,
    payload: {
      steps: ['collect', 'draft', 'check', 'shorten'].map((action, step) => ({
        step,
        action,
        assignee: step % 2 === 0 ? 'worker-1' : 'worker-2',
        because: some(1)[0]?.slice(0, 60) ?? '',
      })),
    },
  });
  const drafted = say({
    type: 'draft',
    from: 'worker-2',
    to: 'reviewer',
    cause: planned,
    payload: {
      revision: 1,
      markdown: `# ${name}\n\n${some(14).join(' ')}\n\n> ${quote}\n`,
      citations: [3, 1, 4],
    },
  });
  const remarked = say({
    type: 'remarks',
    from: 'reviewer',
    to: 'worker-2',
    cause: drafted,
    isReply: true,
    payload: {
      accepted: false,
      scores: { clarity: random.integer(11), evidence: random.integer(11), style: random.integer(11) },
      items: some(3).map((sentence, at) => ({ line: 2 * at + 3, severity: 'minor', suggestion: sentence })),
    },
  });
  const redrafted = say({
    type: 'draft',
    from: 'worker-2',
    to: 'coordinator',
    cause: remarked,
    payload: {
      revision: 2,
      markdown: `# ${name}\n\n${some(22).join(' ')}\n\n> ${quote}\n`,
      citations: [3, 5, 1, 4],
    },
  });
  say({
    type: 'finding',
    from: 'coordinator',
    cause: redrafted,
    payload: { statement: wanted, confidence: 0.5 + random.integer(50) / 100, quote, open: some(1) },
  });
  return { opening: { request: wanted, about: name, background: some(20).join(' ') }, said };
}

function drawHits(random: Random, name: string, sentences: readonly string[]): JsonValue {
  return sentences.map((snippet, rank) => ({
    rank,
    uri: `doc://${name}#p${random.integer(60)}`,
    relevance: random.uniform(),
    snippet,
  }));
}
