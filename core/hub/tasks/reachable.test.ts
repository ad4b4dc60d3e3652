import { describe, expect, test } from 'vitest';
import { canReach, findBlockedAgents } from './reachable.ts';

const agent = (id: string, subscribes: string[], emits: string[]) => ({ node: { id }, subscribes, emits });
const search = agent('0', ['doc_init'], ['search_docs']);
const extract = agent('1', ['search_docs'], ['events']);
const reason = agent('3', ['events', 'triples'], ['data_event']);

describe('an answer can still come', () => {
  test.each([
    ['while everybody is there', ['doc_init'], [search, extract, reason], true],
    ['whatever their order', ['doc_init'], [reason, extract, search], true],
    ['when who died has already done its work', ['doc_init', 'search_docs'], [extract, reason], true],
    ['when only the final agent is left and has what it needs', ['doc_init', 'triples'], [reason], true],
  ])('%s', (_when, seen, alive, expected) => {
    expect(canReach('3', new Set(seen), alive)).toBe(expected);
  });
});

describe('an agent that is on its way back', () => {
  test.each([
    ['is as good as there for what is still to come', ['doc_init'], [search, reason], [extract], true],
    ['has missed what it was sent', ['doc_init', 'search_docs'], [reason], [extract], false],
    ['may be the final one', ['doc_init'], [search, extract], [reason], true],
    ['may feed another one', ['doc_init'], [search], [extract, reason], true],
    ['hears no document twice', ['doc_init'], [extract, reason], [search], false],
  ])('%s', (_what, seen, alive, returning, expected) => {
    expect(canReach('3', new Set(seen), alive, returning)).toBe(expected);
  });
});

describe('what keeps an answer from coming', () => {
  const triple = agent('2', ['events'], ['triples']);
  const last = agent('3', ['triples'], ['data_event']);

  test.each([
    ['is nothing where it can come', [last, triple, extract, search], []],
    ['is the agent that waits for what nobody emits', [search, triple, last], ['2']],
    ['is the final one if nobody works for it', [search, extract, last], ['3']],
    [
      'is every agent on the way that waits so, and no other',
      [agent('a', ['x'], ['triples']), agent('b', ['y'], ['triples']), agent('c', ['z'], ['z2']), last],
      ['a', 'b'],
    ],
    [
      'are all that wait for each other',
      [agent('a', ['x'], ['triples', 'y']), agent('b', ['y'], ['x']), last],
      ['3', 'a', 'b'],
    ],
    ['is an agent that only itself could give work', [agent('a', ['x'], ['x', 'triples']), last], ['a']],
  ])('%s', (_what, agents, expected) => {
    expect(findBlockedAgents('3', new Set(['doc_init']), agents).map(({ node }) => node.id)).toEqual(
      expected,
    );
  });
});
