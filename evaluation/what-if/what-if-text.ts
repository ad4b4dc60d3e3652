import { count, percent, table, wrapped } from '../terminal/table.ts';
import type { WhatIf } from './what-if.ts';

/** For people: each other way of writing, and what it would have saved. */
export function whatIfText({ requests, lost, known, tokens, variants, cacheable }: WhatIf): string {
  const saved = (other: number) => (tokens === 0 ? '–' : percent((tokens - other) / tokens));
  const all = [...variants, { name: 'a prompt cache', what: CACHE, tokens: tokens - cacheable }];
  return [
    table([
      ['prompts written with', 'tokens', 'saved'],
      ['nothing changed', count(tokens), '–'],
      ...all.map((variant) => [variant.name, count(variant.tokens), saved(variant.tokens)]),
    ]),
    '',
    ...all.map(({ name, what }) => wrapped(`${name}: ${what}.`)),
    '',
    wrapped(
      `Of ${count(requests)} requests. ` +
        `${known ? "By the models' own tokens." : "The models' own tokens are not public: by o200k_base, so take the shares and not the sums."} ` +
        'What another way of writing does to the answers is not in these figures, since no model was asked.',
    ),
    ...(lost === 0
      ? []
      : [`${count(lost)} more are in none of this: a text of theirs was too long to keep.`]),
    '',
  ].join('\n');
}

const CACHE = 'what is left at the full price, if the server keeps how a conversation began';
