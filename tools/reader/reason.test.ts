import { describe, expect, it } from 'vitest';
import { chooseAnswer } from './reason.ts';
import { proposeTriples } from './triple.ts';

function answer(question: string, ...texts: string[]): string {
  const sentences = texts.map((text, index) => ({ chunk: 0, text, score: -10 * index }));
  return chooseAnswer(question, proposeTriples(question, sentences)).answer;
}

describe('chooseAnswer', () => {
  it.each([
    ['Who built the mill?', 'The mill was built by Thomas Ashdown in 1783.', 'Thomas Ashdown'],
    ['When was the mill built?', 'The mill was built by Thomas Ashdown in 1783.', '1783'],
    ['How many windows does the mill have?', 'The mill in Norbury has 14 windows.', '14'],
  ])('answers %s', (question, text, expected) => {
    expect(answer(question, text)).toContain(expected);
  });

  it('takes the earlier of two named things', () => {
    const texts = ['Harrow Mill was built in 1783.', 'Lenn Bridge was built in 1650.'];
    expect(answer('Which was built first, Harrow Mill or Lenn Bridge?', ...texts)).toBe('Lenn Bridge');
    expect(answer('Which is newer, Harrow Mill or Lenn Bridge?', ...texts)).toBe('Harrow Mill');
  });

  it('takes the larger of two named things', () => {
    const texts = ['Norbury has 12,480 people.', 'Ashdown has 3,100 people.'];
    expect(answer('Which town has more people, Norbury or Ashdown?', ...texts)).toBe('Norbury');
  });

  it('says yes when both are what is asked, and no when one is not', () => {
    const norwegian = 'Ilse Brandt was a Norwegian composer.';
    expect(answer('Are Brandt and Moe both composers?', norwegian, 'Carl Moe was a Danish composer.')).toBe(
      'yes',
    );
    expect(answer('Are Brandt and Moe both composers?', norwegian, 'Carl Moe was a Danish painter.')).toBe(
      'no',
    );
  });

  it('reports a confidence that is a share', () => {
    const sentences = [{ chunk: 0, text: 'The mill was built by Ann.', score: 0 }];
    const { confidence } = chooseAnswer('Who built it?', proposeTriples('Who built it?', sentences));
    expect(confidence).toBeGreaterThan(0);
    expect(confidence).toBeLessThanOrEqual(1);
  });

  it('answers nothing from nothing', () => {
    expect(chooseAnswer('Who?', { sentences: [], triples: [] })).toEqual({
      answer: '',
      evidence: '',
      confidence: 0,
    });
  });
});
