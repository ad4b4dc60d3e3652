import { formatDecimals, formatPercent } from '../terminal/table.ts';
import type { BlamedMessage, BlameFile } from './blame-file.ts';

/** Names a message: `message 4 (expert → runner, expert.result)`. */
function nameMessage({
  place,
  from,
  to,
  type,
}: Pick<BlamedMessage, 'place' | 'from' | 'to' | 'type'>): string {
  return `message ${place} (${from} → ${to ?? 'all'}, ${type})`;
}

/** Formats the verdict on the whole question, in a sentence or two. */
export function formatHeadline({
  correct,
  messages,
  blamed,
  tries,
  outset,
}: Pick<BlameFile, 'correct' | 'messages' | 'blamed' | 'tries' | 'outset'>): string {
  const culprits = blamed.flatMap((place) => messages.filter((message) => message.place === place));
  const [first, ...more] = culprits;
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
  const unclear = messages.filter(({ verdict }) => verdict === 'cannot tell').length;
  const open =
    unclear === 0
      ? ''
      : ` For ${unclear} of ${messages.length} messages, ${tries} tries per branch are too few to tell.`;
  return `${none} was found to have made the answer wrong.${open}`;
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
