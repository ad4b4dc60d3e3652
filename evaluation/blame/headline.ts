import { formatDecimals, formatPercent } from '../terminal/table.ts';
import type { BlamedMessage, BlameFile } from './blame-file.ts';
import { findCulprits } from './judge.ts';

/** Names a message: `message 4 (expert → runner, expert.result)`. */
function nameMessage({
  place,
  from,
  to,
  type,
}: Pick<BlamedMessage, 'place' | 'from' | 'to' | 'type'>): string {
  return `message ${place} (${from} → ${to ?? 'all'}, ${type})`;
}

/** Formats the verdict on the whole question, in a few sentences. */
export function formatHeadline({
  correct,
  messages,
  outset,
}: Pick<BlameFile, 'correct' | 'messages' | 'outset'>): string {
  const changed = findCulprits(messages, 'changed the wrong answer').map(
    (message) =>
      ` ${capitalize(nameMessage(message))} is wrong in its own way: the answer is another one in ${formatPercent(message.own.chance)} of the tries where ${message.from} speaks again (difference ${formatDifference(message.own)}), so it did not pass on what it was told.`,
  );
  return `${formatVerdict({ correct, messages, outset })}${changed.join('')}`;
}

function formatVerdict({
  correct,
  messages,
  outset,
}: Pick<BlameFile, 'correct' | 'messages' | 'outset'>): string {
  const [first, ...more] = findCulprits(messages, 'made the answer wrong');
  if (first !== undefined) {
    const { chance, again } = first;
    const others = more.length === 0 ? '' : ` Less so ${more.map(nameMessage).join(', ')}.`;
    return `${capitalize(nameMessage(first))} made the answer wrong: the chance of a right answer is ${formatPercent(chance)} with what it said, and ${formatPercent(again.chance)} where ${first.from} speaks again in its place (difference ${formatDifference(again)}).${others}`;
  }
  const none = correct ? 'The answer was right, and no message' : 'No message';
  const carrier = messages.find(({ verdict }) => verdict === 'passed it on');
  const truth = carrier?.replaced.truth;
  if (carrier !== undefined && truth !== undefined)
    return `${none} was found to have made the answer wrong: asked again from the start, the question has a chance of ${formatPercent(outset.chance)}, and no sender improves it by speaking again. The truth in place of ${nameMessage(carrier)} would: from ${formatPercent(carrier.chance)} to ${formatPercent(truth.chance)} (difference ${formatDifference(truth)}).`;
  return `${none} was found to have made the answer wrong.${formatPower(messages)}`;
}

/** Says what the tries can show at the messages that are undecided; empty if none is. */
function formatPower(messages: BlameFile['messages']): string {
  const unclear = messages.filter(({ verdict }) => verdict === 'cannot tell');
  if (unclear.length === 0) return '';
  const most = Math.max(...unclear.map(({ detectable }) => detectable ?? Number.POSITIVE_INFINITY));
  const shown = Number.isFinite(most)
    ? `they find a fall of the chance to 0 in four of five analyses only where it was ${formatPercent(most)} or more`
    : 'no fall of the chance could be found by so few';
  return ` For ${unclear.length} of ${messages.length} messages the tries cannot tell: ${shown}.`;
}

export function formatDifference({
  difference,
  low,
  high,
}: {
  difference: number;
  low: number;
  high: number;
}): string {
  return `${formatSigned(difference)}, ${formatSigned(low)} to ${formatSigned(high)}`;
}

const formatSigned = (value: number) => `${value < 0 ? '−' : '+'}${formatDecimals(Math.abs(value), 2)}`;
const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
