import { count, formatDecimals, formatPercent, formatTable, toOneLine, wrapText } from '../terminal/table.ts';
import type { BlamedMessage, BlameFile } from './blame-file.ts';
import { formatDifference } from './headline.ts';
import { REPLACEMENTS } from './judge.ts';

const ANSWER_COLUMNS = 60;

/** What was found, for people: the verdict first, then each message. */
export function blameText(file: BlameFile): string {
  const { question, truth, answer, correct, outset, branches, tries, margin, messages } = file;
  const cost = branches.cost === null || branches.cost === 0 ? '' : `, $${branches.cost.toFixed(4)}`;
  return [
    `question  ${toOneLine(question, ANSWER_COLUMNS)}`,
    `truth     ${toOneLine(truth, ANSWER_COLUMNS)}`,
    `answer    ${toOneLine(answer, ANSWER_COLUMNS)} (${correct ? 'right' : 'wrong'})`,
    '',
    wrapText(file.headline),
    '',
    formatTable(buildBlameRows(messages), ['other', 'neutral', 'to', 'interval']),
    '',
    wrapText(
      `Asked anew, the question is answered right in ${formatPercent(outset.chance)} of ${outset.tries} tries. Right: the chance once the messages up to this one are as they were. Again: where its sender speaks again instead, with the change and its 95 % interval. ${REPLACEMENTS.join(', ')}: where that stands in its place. No effect: changes of less than ${formatDecimals(margin, 2)}. Whoever is said to have made it wrong was tried ${2 * tries} times more, and is judged by these alone.`,
    ),
    `${count(branches.asked)} branches, ${tries} tries each: ${count(branches.failed)} without an answer, ${branches.tokens === null ? '–' : count(branches.tokens)} tokens${cost}`,
    ...(branches.departed === 0
      ? []
      : [
          wrapText(
            `${count(branches.departed)} branches were not as it was recorded, and are left out. The first: ${file.departed ?? ''}`,
          ),
        ]),
    '',
  ].join('\n');
}

function buildBlameRows(messages: readonly BlamedMessage[]): string[][] {
  const heading = ['message', 'from', 'to', 'type', 'right', 'again', 'interval', ...REPLACEMENTS, 'verdict'];
  return [
    heading,
    ...messages.map(({ place, from, to, type, chance, again, replaced, verdict }) => [
      String(place),
      from,
      to ?? 'all',
      type,
      formatPercent(chance),
      formatPercent(again.chance),
      formatDifference(again),
      ...REPLACEMENTS.map((name) => {
        const effect = replaced[name];
        return effect === undefined ? '–' : formatPercent(effect.chance);
      }),
      verdict,
    ]),
  ];
}
