import type { BlamedMessage, BlameFile } from '../../blame/blame-file.ts';
import { formatDifference } from '../../blame/headline.ts';
import { REPLACEMENTS } from '../../blame/judge.ts';
import { computeWilson } from '../../statistics/inference/confidence.ts';
import { count, formatDecimals, formatPercent, toOneLine } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';

/** The chance of a right answer once the messages up to one are as they were. */
interface ChancePoint {
  readonly place: number;
  readonly label: string;
  readonly chance: number;
  readonly low: number;
  readonly high: number;
  readonly isBlamed: boolean;
  readonly title: string;
}

/** A replacement of a message, and the chance with it. */
interface InsteadPoint {
  readonly place: number;
  readonly what: string;
  readonly chance: number;
  readonly title: string;
}

export interface BlameView {
  readonly headline: string;
  readonly facts: readonly string[];
  readonly warnings: readonly string[];
  readonly chances: readonly ChancePoint[];
  readonly instead: readonly InsteadPoint[];
  readonly table: TableView;
  readonly messages: readonly { readonly name: string; readonly says: string }[];
}

export function blameView(file: BlameFile): BlameView {
  const { messages, outset, branches, tries, margin, blamed, team, engine, model } = file;
  const cost = branches.cost === null || branches.cost === 0 ? '' : `, $${branches.cost.toFixed(4)}`;
  return {
    headline: file.headline,
    facts: [
      `Question ${file.task_id}: ${file.question}`,
      `True answer: ${file.truth}. Team ${team} answered: ${file.answer} (${file.correct ? 'right' : 'wrong'}).`,
      `${count(branches.asked)} branches, ${tries} tries each, live with ${engine}${model === null ? '' : ` ${model}`}: ${count(branches.failed)} without an answer, ${branches.tokens === null ? '–' : count(branches.tokens)} tokens${cost}. Changes of less than ${formatDecimals(margin, 2)} count as none.`,
    ],
    warnings: [
      ...(file.complete ? [] : [`It ended early: ${file.ended_by}`]),
      ...(branches.departed === 0
        ? []
        : [
            `${count(branches.departed)} branches were not as it was recorded, and are left out. The first: ${file.departed}`,
          ]),
    ],
    chances: [
      buildChancePoint(0, 'asked anew', outset, false),
      ...messages.map((message) =>
        buildChancePoint(message.place, formatMessageLabel(message), message, blamed.includes(message.place)),
      ),
    ],
    instead: messages.flatMap(({ place, replaced }) =>
      REPLACEMENTS.flatMap((what) => {
        const effect = replaced[what];
        if (effect === undefined) return [];
        const title = `${what} in the place of message ${place}: ${formatPercent(effect.chance)} (${formatDifference(effect)})`;
        return [{ place, what, chance: effect.chance, title }];
      }),
    ),
    table: createTableView(
      [
        '#message',
        'from',
        'to',
        'type',
        '#right',
        '#again',
        'change and interval',
        ...REPLACEMENTS.map((name) => `#${name}`),
        'verdict',
      ],
      messages.map((message) => [
        ...[String(message.place), message.from, message.to ?? 'all', message.type],
        ...[
          formatPercent(message.chance),
          formatPercent(message.again.chance),
          formatDifference(message.again),
        ],
        ...REPLACEMENTS.map((name) => {
          const effect = message.replaced[name];
          return effect === undefined ? '–' : formatPercent(effect.chance);
        }),
        message.verdict,
      ]),
    ),
    messages: messages.map((message) => ({
      name: `${message.place} ${formatMessageLabel(message)} (${message.type}): ${message.verdict}`,
      says: message.says,
    })),
  };
}

const formatMessageLabel = ({ from, to }: BlamedMessage) => toOneLine(`${from} → ${to ?? 'all'}`, 40);

function buildChancePoint(
  place: number,
  label: string,
  { chance, tries }: { readonly chance: number; readonly tries: number },
  isBlamed: boolean,
): ChancePoint {
  const { low, high } = computeWilson(Math.round(chance * tries), tries);
  const title = `${place === 0 ? '' : `${place} `}${label}: ${formatPercent(chance)} (${formatPercent(low)} to ${formatPercent(high)})`;
  return { place, label, chance, low, high, isBlamed, title };
}
