import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';

/** What an image takes in a prompt is not said by its bytes; servers count 500 to 1,500 tokens. */
const IMAGE_CHARACTERS = 4_000;
/** Of a call beside its words: names and brackets. */
const CALL_CHARACTERS = 40;

export function countCharacters(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + measureMessage(message), 0);
}

function measureMessage(message: ChatMessage): number {
  const images = message.role === 'user' ? (message.images?.length ?? 0) * IMAGE_CHARACTERS : 0;
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return calls.reduce(
    (sum, call) => sum + CALL_CHARACTERS + JSON.stringify(call.arguments).length,
    message.content.length + images,
  );
}

/** What is left of an old result at first: enough for what was decisive in most of them. */
const SHORT_CHARACTERS = 2_000;
/** What is left of it in the end: what it was. */
const BRIEF_CHARACTERS = 300;
/** A result that has just come must say something. */
const FRESH_CHARACTERS = 1_000;

/** Places of the results that were there before the last turn of the model, the oldest first. */
export function findOldResults(messages: readonly ChatMessage[]): number[] {
  const lastTurn = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.flatMap(({ role }, index) => (role === 'tool' && index < lastTurn ? [index] : []));
}

/** The messages with those results as short as they can be and still say what was decisive in most of them. */
export function shortenResults(messages: readonly ChatMessage[], places: readonly number[]): ChatMessage[] {
  return messages.map((message, index) =>
    places.includes(index) ? shortenMessage(message, SHORT_CHARACTERS) : message,
  );
}

/**
 * A conversation that fits into `room` characters, as far as that can be: the oldest results of tools are shortened first, then brought down to
 * how they begin; then the newest results, what was said in between, and at last the middle of the longest text. The system message stays
 * whole, and so do beginning and end of every other: the question stands at the beginning. Nothing is left out, since servers want a
 * result for each call. Whoever keeps a trace keeps the whole.
 *
 * @returns the same list where it fits
 */
export function fitMessages(messages: readonly ChatMessage[], room: number): readonly ChatMessage[] {
  if (countCharacters(messages) <= room) return messages;
  const fitted = [...messages];
  const lastTurn = messages.findLastIndex(({ role }) => role === 'assistant');
  const places = messages.map((message, index) => ({ role: message.role, index }));
  const old = findOldResults(messages);
  const fresh = places.filter(({ role, index }) => role === 'tool' && index > lastTurn);
  const firstUser = places.find(({ role }) => role === 'user')?.index ?? 0;
  const between = places.filter(
    ({ role, index }) => role !== 'system' && role !== 'tool' && index > firstUser,
  );
  const shorten = (index: number, most: number) => {
    const message = fitted[index];
    if (message !== undefined) fitted[index] = shortenMessage(message, most);
  };
  const steps = [
    ...old.map((index) => [index, SHORT_CHARACTERS] as const),
    ...old.map((index) => [index, BRIEF_CHARACTERS] as const),
  ];
  for (const [index, most] of steps) {
    if (countCharacters(fitted) <= room) return fitted;
    shorten(index, most);
  }
  for (const { index } of fresh.toSorted(
    (a, b) => measureContent(fitted, b.index) - measureContent(fitted, a.index),
  )) {
    const excess = countCharacters(fitted) - room;
    if (excess <= 0) return fitted;
    shorten(index, Math.max(FRESH_CHARACTERS, measureContent(fitted, index) - excess));
  }
  for (const { index } of between) {
    if (countCharacters(fitted) <= room) return fitted;
    shorten(index, BRIEF_CHARACTERS);
  }
  const excess = countCharacters(fitted) - room;
  const longest = places
    .filter(({ role }) => role !== 'system')
    .toSorted((a, b) => measureContent(fitted, b.index) - measureContent(fitted, a.index))[0];
  if (excess > 0 && longest !== undefined)
    shorten(longest.index, Math.max(FRESH_CHARACTERS, measureContent(fitted, longest.index) - excess));
  return fitted;
}

function measureContent(messages: readonly ChatMessage[], index: number): number {
  return messages[index]?.content.length ?? 0;
}

/** Of a message whose parts are known, the longest gives way. */
function shortenMessage(message: ChatMessage, most: number): ChatMessage {
  if (!('parts' in message) || message.parts === undefined)
    return { ...message, content: shortenText(message.content, most) };
  const { parts } = message;
  const excess = message.content.length - most;
  const longest = parts.toSorted((a, b) => b.text.length - a.text.length)[0];
  const kept = parts.map((part) => {
    return part === longest
      ? { ...part, text: shortenText(part.text, Math.max(BRIEF_CHARACTERS, part.text.length - excess)) }
      : part;
  });
  return { ...message, parts: kept, content: kept.map(({ text }) => text).join('') };
}

/** Beginning and end of a text of which there is more than `most` characters, with a mark that says so; no longer than `most`. */
export function shortenText(text: string, most = SHORT_CHARACTERS): string {
  if (text.length <= most) return text;
  const mark = `\n[… shortened from ${text.length} characters, to fit the model's context …]\n`;
  const kept = Math.max(0, most - mark.length);
  const tail = Math.floor(kept / 4);
  return `${text.slice(0, kept - tail).toWellFormed()}${mark}${tail === 0 ? '' : text.slice(-tail).toWellFormed()}`;
}
