import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PROMPT_KINDS } from '../../contracts/prompt-part.ts';
import { sumLedgers, TokenLedger, tokenLedgerSchema } from './token-ledger.ts';

const part = fc.record({
  kind: fc.constantFrom(...PROMPT_KINDS),
  tokens: fc.nat(1000),
  digest: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
});
const exchange = fc.record({
  role: fc.constantFrom('plan', 'critique'),
  packetType: fc.constantFrom('plan.call', 'doc_init'),
  model: fc.constantFrom('m', 'n'),
  promptTokens: fc.nat(5000),
  completionTokens: fc.nat(500),
  counted: fc.record({
    encoding: fc.constant('o200k_base' as const),
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
        exchanges.reduce((all, { promptTokens }) => all + promptTokens, 0),
      );
      expect(sum(ledger.figures?.completion)).toBe(
        exchanges.reduce((all, { completionTokens }) => all + completionTokens, 0),
      );
      if (ledger.figures !== undefined) tokenLedgerSchema.parse(ledger.figures);
    }),
  );
});

const once = {
  role: 'plan',
  packetType: 'plan.call',
  model: 'm',
  promptTokens: 30,
  completionTokens: 5,
  counted: {
    encoding: 'o200k_base' as const,
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
  ledger.add({ ...once, promptTokens: null });
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
