import { expect, test } from 'vitest';
import type { Expectation } from './prompt-test.ts';
import { findFaults } from './prompt-test.ts';

const JSON_REPLY = '{"type": "web", "steps": [{"uses": []}], "done": null}';

test.each<[Expectation, string, string[]]>([
  [{ contains: 'Heron' }, 'a heron', []],
  [{ contains: 'heron' }, 'a crow', ['does not contain "heron"']],
  [{ excludes: 'heron' }, 'a crow', []],
  [{ excludes: 'Heron' }, 'a heron', ['contains "Heron"']],
  [{ matches: '^final answer:\\s*\\d+$' }, 'FINAL ANSWER: 42', []],
  [{ matches: '^\\d+$' }, '42 km', ['does not match /^\\d+$/']],
  [{ field: 'type', equals: 'web' }, JSON_REPLY, []],
  [{ field: 'steps.0.uses', equals: [] }, JSON_REPLY, []],
  [{ field: 'done', equals: null }, JSON_REPLY, []],
  [{ field: 'type', equals: 'math' }, JSON_REPLY, ['type is "web", expected "math"']],
  [{ field: 'steps.1.uses', equals: [] }, JSON_REPLY, ['steps.1.uses is not there, expected []']],
  [{ field: 'toString', equals: 'x' }, JSON_REPLY, ['toString is not there, expected "x"']],
  [{ field: 'type', equals: 'web' }, `Sure:\n\`\`\`json\n${JSON_REPLY}\n\`\`\``, []],
  [{ field: 'type', equals: 'web' }, 'web', ['is not JSON, so it has no type']],
])('%j of %j', (expectation, reply, faults) => {
  expect(findFaults(reply, [expectation])).toEqual(faults);
});

test('every expectation that is not met is said', () => {
  const faults = findFaults('crow', [{ contains: 'heron' }, { contains: 'crow' }, { excludes: 'crow' }]);

  expect(faults).toEqual(['does not contain "heron"', 'contains "crow"']);
});
