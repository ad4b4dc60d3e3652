import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OTHERS } from '../../contracts/others.ts';
import { PROMPT_KINDS } from '../../contracts/prompt-part.ts';
import { sumLedgers, TokenLedger, tokenLedgerSchema } from './token-ledger.ts';

const part = fc.record({
  kind: fc.constantFrom(...PROMPT_KINDS),
  tokens: fc.nat(1000),
  digest: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
});
const exchange = fc.record({
  role: fc.constantFrom('plan', 'critique'),
  packet_type: fc.constantFrom('plan.call', 'doc_init'),
  model: fc.constantFrom('m', 'n'),
  prompt_tokens: fc.nat(5000),
  completion_tokens: fc.nat(500),
  counted: fc.record({
    known: fc.boolean(),
    parts: fc.array(part, { maxLength: 12 }),
    completion: fc.record({ answer: fc.nat(200), reasoning: fc.nat(200), tool_calls: fc.nat(200) }),
  }),
});

test('lines sum to what the servers counted, whatever was asked', () => {
  fc.assert(
    fc.property(fc.array(exchange, { maxLength: 20 }), (exchanges) => {
      const ledger = new TokenLedger();
      for (const one of exchanges) ledger.add(one);
      const sum = (lines: readonly { tokens: number }[] | undefined) =>
        (lines ?? []).reduce((all, { tokens }) => all + tokens, 0);
      expect(sum(ledger.figures?.prompt)).toBe(
        exchanges.reduce((all, { prompt_tokens }) => all + prompt_tokens, 0),
      );
      expect(sum(ledger.figures?.completion)).toBe(
        exchanges.reduce((all, { completion_tokens }) => all + completion_tokens, 0),
      );
      if (ledger.figures !== undefined) tokenLedgerSchema.parse(ledger.figures);
    }),
  );
});

const once = {
  role: 'plan',
  packet_type: 'plan.call',
  model: 'm',
  prompt_tokens: 30,
  completion_tokens: 5,
  counted: {
    known: true,
    parts: [
      { kind: 'peer' as const, tokens: 20, digest: 'facts' },
      { kind: 'structure' as const, tokens: 7, digest: '' },
    ],
    completion: { answer: 5, reasoning: 0, tool_calls: 0 },
  },
};

test('what is read again is on a line of its own, by how often', () => {
  const ledger = new TokenLedger();
  for (let read = 1; read <= 6; read++) ledger.add(once);
  const peers = ledger.figures?.prompt.filter(({ kind }) => kind === 'peer');
  expect(peers?.map(({ read, tokens }) => [read, tokens])).toEqual([
    [1, 20],
    [2, 20],
    [3, 20],
    [4, 60],
  ]);
});

test('a reply without figures is on no line, and counted as such', () => {
  const ledger = new TokenLedger();
  ledger.add({ ...once, prompt_tokens: null });
  expect(ledger.figures).toMatchObject({ prompt: [], uncounted: 1 });
});

test('the ledgers of tasks add up to that of all of them', () => {
  const [a, b] = [new TokenLedger(), new TokenLedger()];
  a.add(once);
  b.add(once);
  const both = sumLedgers([a, b].flatMap(({ figures }) => figures ?? []));
  expect(both?.prompt.map(({ kind, read, tokens }) => [kind, read, tokens])).toEqual([
    ['peer', 1, 40],
    ['structure', 1, 14],
    ['residual', 1, 6],
  ]);
});

const by = { role: 'plan', packet_type: 'plan.call', model: 'm' };

describe('an exchange', () => {
  test('is on lines with what the parts are, and what is left of the server’s count', () => {
    const ledger = new TokenLedger();
    ledger.add({
      ...once,
      completion_tokens: 21,
      counted: { ...once.counted, completion: { answer: 5, reasoning: 6, tool_calls: 7 } },
    });
    expect(ledger.figures).toEqual({
      prompt: [
        { ...by, kind: 'peer', read: 1, tokens: 20 },
        { ...by, kind: 'structure', read: 1, tokens: 7 },
        { ...by, kind: 'residual', read: 1, tokens: 3 },
      ],
      completion: [
        { ...by, kind: 'answer', tokens: 5 },
        { ...by, kind: 'reasoning', tokens: 6 },
        { ...by, kind: 'tool_calls', tokens: 7 },
        { ...by, kind: 'residual', tokens: 3 },
      ],
      estimated: false,
      uncounted: 0,
    });
  });

  test('has a residual below 0 where the server counts less, and none where both agree', () => {
    const less = new TokenLedger();
    less.add({ ...once, prompt_tokens: 26, completion_tokens: 4 });
    expect(less.figures?.prompt.at(-1)).toEqual({ ...by, kind: 'residual', read: 1, tokens: -1 });
    expect(less.figures?.completion).toEqual([
      { ...by, kind: 'answer', tokens: 5 },
      { ...by, kind: 'residual', tokens: -1 },
    ]);
    const equal = new TokenLedger();
    equal.add({ ...once, prompt_tokens: 27 });
    expect(equal.figures?.prompt.map(({ kind }) => kind)).toEqual(['peer', 'structure']);
    expect(equal.figures?.completion).toEqual([{ ...by, kind: 'answer', tokens: 5 }]);
  });

  test('adds to the lines of its like, and has lines of its own by role, packet type and model', () => {
    const ledger = new TokenLedger();
    const marks = { ...once.counted, parts: [{ kind: 'structure' as const, tokens: 7, digest: '' }] };
    const plain = { ...once, prompt_tokens: 7, counted: marks };
    for (const other of [{}, {}, { role: 'critique' }, { packet_type: 'doc_init' }, { model: 'n' }])
      ledger.add({ ...plain, ...other });
    const ofAll = (tokens: number) => [
      { ...by, tokens: 2 * tokens },
      { ...by, role: 'critique', tokens },
      { ...by, packet_type: 'doc_init', tokens },
      { ...by, model: 'n', tokens },
    ];
    expect(ledger.figures?.prompt).toEqual(ofAll(7).map((line) => ({ ...line, kind: 'structure', read: 1 })));
    expect(ledger.figures?.completion).toEqual(ofAll(5).map((line) => ({ ...line, kind: 'answer' })));
  });
});

describe('what a server did not say', () => {
  test.each([
    { prompt_tokens: null },
    { completion_tokens: null },
    { prompt_tokens: null, completion_tokens: null },
  ])('is unknown and not 0 (%o), but its parts have been read', (unsaid) => {
    const ledger = new TokenLedger();
    ledger.add({ ...once, ...unsaid, counted: { ...once.counted, known: false } });
    expect(ledger.figures).toEqual({ prompt: [], completion: [], estimated: false, uncounted: 1 });
    ledger.add(once);
    expect(ledger.figures?.prompt[0]).toMatchObject({ kind: 'peer', read: 2, tokens: 20 });
    expect(ledger.figures?.prompt[1]).toMatchObject({ kind: 'structure', read: 1, tokens: 7 });
    expect(ledger.figures?.uncounted).toBe(1);
  });

  test('is counted where its texts are missing; of nothing there are no figures', () => {
    const ledger = new TokenLedger();
    expect(ledger.figures).toBeUndefined();
    ledger.addUnknown();
    ledger.addUnknown();
    expect(ledger.figures).toEqual({ prompt: [], completion: [], estimated: false, uncounted: 2 });
  });

  test('has figures where only the prompt or only the reply has tokens', () => {
    const none = {
      ...once,
      prompt_tokens: 0,
      completion_tokens: 0,
      counted: { ...once.counted, parts: [], completion: { answer: 0, reasoning: 0, tool_calls: 0 } },
    };
    const add = (more: Partial<typeof none>) => {
      const ledger = new TokenLedger();
      ledger.add({ ...none, ...more });
      return ledger.figures;
    };
    expect(add({ prompt_tokens: 3 })).toMatchObject({ prompt: [{ tokens: 3 }], completion: [] });
    expect(add({ completion_tokens: 3 })).toMatchObject({ prompt: [], completion: [{ tokens: 3 }] });
    expect(add({})).toBeUndefined();
  });

  test('makes the whole ledger an estimate where one model’s encoding is not public', () => {
    const ledger = new TokenLedger();
    ledger.add(once);
    expect(ledger.figures?.estimated).toBe(false);
    ledger.add({ ...once, counted: { ...once.counted, known: false } });
    ledger.add(once);
    expect(ledger.figures?.estimated).toBe(true);

    const sure = new TokenLedger();
    sure.add(once);
    const sum = (...ledgers: TokenLedger[]) => sumLedgers(ledgers.flatMap(({ figures }) => figures ?? []));
    expect(sum(sure, ledger)?.estimated).toBe(true);
    expect(sum(sure, sure)?.estimated).toBe(false);
  });
});

describe('the bounds of a ledger', () => {
  /** A ledger of exchanges by this many roles, each with a prompt of one token and a reply of five. */
  function addRoles(count: number, first = 0): TokenLedger {
    const ledger = new TokenLedger();
    for (let role = first; role < first + count; role++)
      ledger.add({ ...once, role: `r${role}`, prompt_tokens: 1, counted: { ...once.counted, parts: [] } });
    return ledger;
  }
  const other = { role: OTHERS, packet_type: OTHERS, model: OTHERS };

  test('are 5,000 lines of each side: those that are there still grow, and new ones share a line', () => {
    const ledger = addRoles(5002);
    ledger.add({ ...once, role: 'r4999', prompt_tokens: 1, counted: { ...once.counted, parts: [] } });
    ledger.add({ ...once, role: 'new' });
    const { prompt = [], completion = [] } = ledger.figures ?? {};
    expect(completion.slice(4998)).toEqual([
      expect.objectContaining({ role: 'r4998', tokens: 5 }),
      expect.objectContaining({ role: 'r4999', tokens: 10 }),
      { ...other, kind: 'answer', tokens: 15 },
    ]);
    expect(prompt.slice(4998)).toEqual([
      expect.objectContaining({ role: 'r4998', tokens: 1 }),
      expect.objectContaining({ role: 'r4999', tokens: 2 }),
      { ...other, kind: 'residual', read: 1, tokens: 5 },
      { ...other, kind: 'peer', read: 1, tokens: 20 },
      { ...other, kind: 'structure', read: 1, tokens: 7 },
    ]);
  });

  test('are 50,000 parts: a further one is new each time, the last one is known', () => {
    const parts = Array.from({ length: 50_000 }, (_, part) => ({
      kind: 'file' as const,
      tokens: 1,
      digest: `d${part}`,
    }));
    const reads = (digest: string) => {
      const ledger = new TokenLedger();
      for (const some of [parts, [{ kind: 'peer' as const, tokens: 1, digest }]])
        ledger.add({ ...once, counted: { ...once.counted, parts: some } });
      ledger.add({ ...once, counted: { ...once.counted, parts: [{ kind: 'peer', tokens: 1, digest }] } });
      return ledger.figures?.prompt
        .filter(({ kind }) => kind === 'peer')
        .map(({ read, tokens }) => [read, tokens]);
    };
    expect(reads('d49999')).toEqual([
      [2, 1],
      [3, 1],
    ]);
    expect(reads('further')).toEqual([[1, 2]]);
  });
});
