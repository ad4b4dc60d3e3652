import { describe, expect, it } from 'vitest';
import { parseQuestion } from '../question.ts';
import { findTaggedFocus } from './asked-view.ts';
import { tagWords } from './tag-words.ts';

const focus = (text: string): string => findTaggedFocus(parseQuestion(text), tagWords(text));

describe('findTaggedFocus', () => {
  it.each([
    ['Which teams won the cup?', 'teams'],
    ['What color stripes were on the flag?', 'stripes'],
    ['What type of fuel does it burn?', 'fuel'],
    ['What is the name of the first settlement?', 'settlement'],
    ['How many windows does it have?', 'windows'],
    ['What was the population around the lake?', 'population'],
    ['Who built it?', ''],
    ['', ''],
  ])('reads the class asked for by %j as %j', (text, expected) => {
    expect(focus(text)).toBe(expected);
  });
});
