import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { extractSentences } from './extract.ts';
import { MAX_SENTENCES, sentenceSchema } from './features/sentence-schema.ts';
import { tripleSetSchema } from './features/triple-schema.ts';
import { answerSchema, chooseAnswer } from './reason.ts';
import { passageSchema, searchPassages } from './search.ts';
import { proposeTriples } from './triple.ts';

function cut(document: string): string[] {
  const points = [...document];
  const chunks: string[] = [];
  for (let at = 0; at < points.length; at += 400) chunks.push(points.slice(at, at + 400).join(''));
  return chunks;
}

/** The four steps as the agents run them: each reads only what came over the wire, checked. */
function read(question: string, document: string) {
  const overWire = <T>(value: T): unknown => JSON.parse(JSON.stringify(value));
  const passages = z
    .array(passageSchema)
    .max(32)
    .parse(overWire(searchPassages(question, cut(document))));
  const found = overWire(extractSentences(question, passages));
  const sentences = z.array(sentenceSchema).max(MAX_SENTENCES).parse(found);
  const triples = tripleSetSchema.parse(overWire(proposeTriples(question, sentences)));
  return answerSchema.parse(overWire(chooseAnswer(question, triples)));
}

const MILL = `Harrow Mill
Harrow Mill was built in 1783 by the engineer Thomas Ashdown on the river Lenn. It ground wheat for 46 farms until the great flood of March 1852. The miller, Ruth Calder, moved to Norbury and opened a bakery there. In 1901 the town bought the ruin for 350 pounds because the council wanted to build a school on its land.

Norbury
Norbury is a market town in the county of Westmere. Its population was 12,480 in 1991. The Norbury Rovers play their home games at Castle Park, which was designed by Anna Velde. The town is known for blue cheese.`;

describe('the reader', () => {
  it('answers most of a set of plain questions about a text it has never seen', () => {
    const questions: [string, string][] = [
      ['When was Harrow Mill built?', '1783'],
      ['Who built Harrow Mill?', 'Thomas Ashdown'],
      ['How many farms did the mill grind wheat for?', '46'],
      ['Who designed Castle Park?', 'Anna Velde'],
      ['Where do the Norbury Rovers play their home games?', 'Castle Park'],
      ['In what county is Norbury?', 'Westmere'],
      ['What was the population of Norbury in 1991?', '12,480'],
      ['What is Norbury known for?', 'blue cheese'],
      ['What year did the town buy the ruin?', '1901'],
      ['Who was the miller?', 'Ruth Calder'],
    ];
    const right = questions.filter(([question, answer]) => read(question, MILL).answer.includes(answer));
    expect(right.length).toBeGreaterThanOrEqual(7);
  });

  it('names the sentence its answer stands in', () => {
    const { answer, evidence } = read('Who designed Castle Park?', MILL);
    expect(evidence).toContain(answer);
  });

  it('gives the same answer every time', () => {
    const first = read('Who built Harrow Mill?', MILL);
    read('Is it a different question?', 'Another text.');
    expect(read('Who built Harrow Mill?', MILL)).toEqual(first);
  });

  it('has no answer for an empty document and some answer for any other text', () => {
    expect(read('Who?', '')).toEqual({ answer: '', evidence: '', confidence: 0 });
    expect(read('Who?', ' \n\t ').answer).toBe('');
    for (const document of ['x', '!!!', '。', '😀', '\u0000', 'the of and', '\ud800', 'a\n\nb\n\nc']) {
      expect(read('Who?', document).answer).not.toBe('');
    }
  });

  it.each([
    ['an empty question', '', MILL],
    ['blanks', ' \n ', MILL],
    ['emoji', '😀😀 🤖?', `${MILL} 😀 👩‍👩‍👧‍👦 🇦🇶`],
    ['right-to-left text', 'من بنى المطحنة؟', 'بنى توماس المطحنة في عام 1783. وكانت على النهر.'],
    ['NULs', 'Who\u0000 built?', 'It was\u0000 built by\u0000 Ann.\u0000'],
    ['lone surrogates', '\udc00 who \ud83d', 'Ann \ud83d built \udc00 it. \ud83d'],
    [
      'a prototype key',
      '__proto__ constructor toString?',
      'constructor __proto__ toString hasOwnProperty valueOf.',
    ],
  ])('survives %s', (_, question, document) => {
    expect(read(question, document).answer).not.toBe('');
  });

  it.each([
    ['a 1 MB document', `${MILL}\n\n`.repeat(1100)],
    ['1 MB without a blank', 'x'.repeat(1_000_000)],
    ['1 MB of full stops', '. '.repeat(500_000)],
    ['1 MB of line ends', 'a\n'.repeat(500_000)],
    ['1 MB of open brackets', '(["'.repeat(330_000)],
    ['1 MB of emoji', '😀'.repeat(250_000)],
    ['1 MB of capitals and dots', 'A.'.repeat(500_000)],
    ['1 MB of combining marks', `a${'\u0301'.repeat(500_000)}`],
  ])('reads %s in bounded time', (_, document) => {
    read('Who built Harrow Mill?', MILL);
    const startMs = cpuMs();
    read('Who built Harrow Mill in x?', document);
    // Four times the promised bound: test machines are slower, too.
    expect(cpuMs() - startMs).toBeLessThan(8_000);
  });

  it('reads a 1 MB question in bounded time', () => {
    const startMs = cpuMs();
    read('Who built it? '.repeat(75_000), MILL);
    expect(cpuMs() - startMs).toBeLessThan(4_000);
  });
});
