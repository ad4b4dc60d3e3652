import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tripleSetSchema } from './features/triple-schema.ts';
import { proposeTriples } from './triple.ts';

const sentence = (text: string, heading?: string) => {
  const plain = { chunk: 0, text, score: 0 };
  return heading === undefined ? plain : { ...plain, heading };
};

describe('proposeTriples', () => {
  it('reads subject, relation and object off a plain sentence', () => {
    const { triples } = proposeTriples('Who built the mill?', [
      sentence('The mill was built by Thomas Ashdown.'),
    ]);
    const found = triples.find(({ object }) => object === 'Thomas Ashdown');
    expect(found?.subject).toBe('The mill');
    expect(found?.relation).toBe('was built by');
  });

  it('puts the title in the place of a pronoun', () => {
    const { triples } = proposeTriples('Where was Ilse Brandt born?', [
      sentence('She was born in Tromso.', 'Ilse Brandt'),
    ]);
    expect(triples.find(({ object }) => object === 'Tromso')?.subject).toBe('Ilse Brandt');
  });

  it('marks an object that is the subject of its verb', () => {
    const { triples } = proposeTriples('Who built the mill?', [sentence('Thomas Ashdown built the mill.')]);
    expect(triples.find(({ object }) => object === 'Thomas Ashdown')?.relation).toBe('~built');
  });

  it('points each object to its place in its sentence', () => {
    const sentences = [
      sentence('The mill stood in Norbury until 1852.'),
      sentence('Ruth Calder left Norbury in May 1853.'),
    ];
    const { triples } = proposeTriples('When did Ruth Calder leave?', sentences);
    expect(triples.length).toBeGreaterThan(4);
    for (const { object, start, sentence: at } of triples) {
      expect(sentences[at]?.text.slice(start, start + object.length)).toBe(object);
    }
    const objects = triples.map(({ object }) => object.toLowerCase());
    expect(new Set(objects).size).toBe(objects.length);
  });

  it('offers the whole sentence when no span of it could be an answer', () => {
    expect(proposeTriples('Who?', [sentence('!!!')]).triples).toMatchObject([{ object: '!!!' }]);
    expect(proposeTriples('Who?', [])).toEqual({ sentences: [], triples: [] });
  });

  it('emits what its schema accepts, whatever it reads', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 600 }),
        (question, text) => {
          const set = tripleSetSchema.parse(proposeTriples(question, [sentence(text)]));
          expect(set.triples.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 20 },
    );
  });
});
