import { describe, expect, it } from 'vitest';
import { parseQuestion } from './question.ts';

describe('parseQuestion', () => {
  it.each([
    ['Who built the mill?', 'who', ''],
    ['when was the mill built', 'when', ''],
    ['How many windows does it have?', 'count', 'windows'],
    ['How long is the bridge?', 'degree', ''],
    ['Which river is the longest?', 'what', 'river'],
    ['In what year did it close?', 'what', 'year'],
    ['What was the name of the ship?', 'what', 'name'],
    ['What did the miller say?', 'what', ''],
    ['Are both mills old?', 'yes-no', ''],
    ['Name a mill.', 'other', ''],
    ['', 'other', ''],
  ])('reads %j as %s asking for %j', (text, kind, focus) => {
    const question = parseQuestion(text);
    expect([question.kind, question.focus]).toEqual([kind, focus]);
  });

  it('keeps topic words once and tells names from other words', () => {
    const question = parseQuestion('When did Ruth Calder, the miller, sell the mill of Ruth?');
    expect(question.terms.filter((term) => term === 'ruth')).toHaveLength(1);
    expect([...question.names]).toEqual(['ruth', 'calder']);
  });
});
