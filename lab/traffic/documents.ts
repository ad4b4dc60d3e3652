import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';
import type { Part, Said, Task } from './part.ts';
import { type Paragraph, splitSentences, type Texts } from './texts.ts';

/**
 * Number of documents in one packet; no paragraph is repeated in a packet, which would flatter compression.
 */
const COUNTS = [1, 1, 2, 3] as const;

/** Traffic of whole documents that are handed on and annotated: 10 kB and more per packet. */
export const documents: Part = {
  name: 'documents',
  about: 'whole documents that are handed on, annotated and rewritten: 10 to 45 kB a packet',
  tasks: (random, texts) => COUNTS.map((count) => drawTask(random, texts, count)),
};

function drawTask(random: Random, texts: Texts, count: number): Task {
  const chosen = random.shuffle(texts).slice(0, count);
  const paragraphs = chosen.flatMap((document) => document.paragraphs);
  const title = chosen.map(({ name }) => name).join(', ');
  const said: Said[] = [];
  const say = (packet: Said) => said.push(packet) - 1;
  const handed = say({
    type: 'document',
    from: 'coordinator',
    to: 'worker-1',
    cause: -1,
    payload: { title, sections: groupSections(paragraphs), lang: 'en' },
  });
  const split = say({
    type: 'document.sentences',
    from: 'worker-1',
    to: 'worker-2',
    cause: handed,
    payload: { title, lines: listSentences(random, paragraphs) },
  });
  const marked = say({
    type: 'document.marked',
    from: 'worker-2',
    to: 'reviewer',
    cause: split,
    payload: { title, markdown: formatDocument(title, paragraphs), html: false },
  });
  const reviewed = say({
    type: 'document.reviewed',
    from: 'reviewer',
    to: 'coordinator',
    cause: marked,
    isReply: false,
    payload: { title, accepted: true, body: paragraphs.map(({ text }) => text), by: ['reviewer'] },
  });
  say({
    type: 'document.filed',
    from: 'coordinator',
    cause: reviewed,
    payload: { title, shelf: `a-${random.integer(90)}`, pages: paragraphs.length },
  });
  return { opening: { title, wanted: 'file it' }, said };
}

function groupSections(paragraphs: readonly Paragraph[]): JsonObject[] {
  return [...Map.groupBy(paragraphs, ({ heading }) => heading)].map(([name, own]) => ({
    name,
    body: own.map(({ text }) => text).join('\n\n'),
  }));
}

function listSentences(random: Random, paragraphs: readonly Paragraph[]): JsonObject[] {
  return paragraphs.flatMap(({ text }, paragraph) =>
    splitSentences(text).map((sentence, n) => ({
      paragraph,
      n,
      sentence,
      weight: random.integer(1000) / 1000,
    })),
  );
}

function formatDocument(title: string, paragraphs: readonly Paragraph[]): string {
  return [`# ${title}`, ...paragraphs.map(({ text }) => text)].join('\n\n');
}
