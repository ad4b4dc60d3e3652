import { count, decimals } from '../../../terminal/table.ts';
import { type TableView, tableView } from '../../../terminal/table-view.ts';
import type { StacksFile } from './stacks-file.ts';

/** What a model reads of the tools, of results in their forms, and of payloads in other notations. */
export function tokenTables({ tokens: { definitions, results, shapes } }: StacksFile): TableView[] {
  const ratio = (tokens: number, compact: number) => decimals(tokens / Math.max(1, compact), 2);
  return [
    tableView(
      ['what a model is shown of the tools', '#tools', '#bytes', '#tokens'],
      definitions.map(({ what, items, bytes, tokens }) => [what, count(items), count(bytes), count(tokens)]),
    ),
    tableView(
      ['all payloads as results of a tool', '#tokens'],
      results.map(({ form, tokens }) => [form, count(tokens)]),
    ),
    tableView(
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

export function tokensText({ tokens: { encoding } }: StacksFile): string {
  return (
    `Tokens of ${encoding}, of what a model reads: definitions with each of its turns, results once. What is around them on the wire is read by no ` +
    'model, so no envelope has tokens. × is against compact JSON.'
  );
}
