import { count, formatDecimals } from '../../../terminal/table.ts';
import { createTableView, type TableView } from '../../../terminal/table-view.ts';
import type { StacksFile } from './stacks-file.ts';

/** Builds tables of the tokens that a model reads: tool definitions, results in their forms, and payloads in other notations. */
export function buildTokenTables({ tokens: { definitions, results, shapes } }: StacksFile): TableView[] {
  const ratio = (tokens: number, compact: number) => formatDecimals(tokens / Math.max(1, compact), 2);
  return [
    createTableView(
      ['what a model is shown of the tools', '#tools', '#bytes', '#tokens'],
      definitions.map(({ what, items, bytes, tokens }) => [what, count(items), count(bytes), count(tokens)]),
    ),
    createTableView(
      ['all payloads as results of a tool', '#tokens'],
      results.map(({ form, tokens }) => [form, count(tokens)]),
    ),
    createTableView(
      ['payloads that are mostly', '#payloads', '#compact JSON', '#pretty JSON', '#×', '#TOON', '#×'],
      shapes.map(({ shape, payloads, compact, pretty, toon }) => [
        shape,
        count(payloads),
        count(compact),
        count(pretty),
        ratio(pretty, compact),
        count(toon),
        ratio(toon, compact),
      ]),
    ),
  ];
}

export function describeTokens({ tokens: { encoding } }: StacksFile): string {
  return (
    `Tokens of ${encoding}, counted for what a model reads: definitions at each of its turns, results once. No model reads the protocol around ` +
    'them, so envelopes have no tokens. × is a multiple of compact JSON.'
  );
}
