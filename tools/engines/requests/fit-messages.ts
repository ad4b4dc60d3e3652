import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';

/** Size of an image in a prompt, which does not follow from its bytes; servers count 500 to 1,500 tokens. */
const IMAGE_CHARACTERS = 4_000;
/** Size of a call besides its text: names and brackets. */
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

/** Length of an old result after the first shortening, enough for the decisive part of most. */
const SHORT_CHARACTERS = 2_000;
/** Length of an old result in the end, enough to recognise it. */
const BRIEF_CHARACTERS = 300;
/** Minimum length of a result that has just come. */
const FRESH_CHARACTERS = 1_000;

/** Returns the indices of the results before the last turn of the model, the oldest first. */
export function findOldResults(messages: readonly ChatMessage[]): number[] {
  const lastTurn = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.flatMap(({ role }, index) => (role === 'tool' && index < lastTurn ? [index] : []));
}

/** Shortens those results as far as most keep their decisive part. */
export function shortenResults(messages: readonly ChatMessage[], places: readonly number[]): ChatMessage[] {
  return messages.map((message, index) =>
    places.includes(index) ? shortenMessage(message, SHORT_CHARACTERS) : message,
  );
}

/** Shortens the results before the last turn of the model to their beginning. */
export function shortenOldResults(messages: readonly ChatMessage[]): ChatMessage[] {
  const old = findOldResults(messages);
  return messages.map((message, index) =>
    old.includes(index) ? shortenMessage(message, BRIEF_CHARACTERS) : message,
  );
}

/**
 * Makes a conversation fit into `room` characters, as far as possible: the oldest tool results are shortened first, then cut down to their
 * beginning; then the newest results, the messages in between, and finally the middle of the longest text. The system message stays
 * whole, and so do the beginning and end of all others: the question stands at the beginning. No message is left out, because servers want
 * a result for each call. Traces keep the whole texts.
 *
 * @returns the same list if it fits
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

/** Shortens a message; if it has parts, only the longest. */
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

/** Cuts a text of more than `most` characters to its beginning and end, with a mark in between; the result is no longer than `most`. */
export function shortenText(text: string, most = SHORT_CHARACTERS): string {
  if (text.length <= most) return text;
  const mark = `\n[… shortened from ${text.length} characters, to fit the model's context …]\n`;
  const kept = Math.max(0, most - mark.length);
  const tail = Math.floor(kept / 4);
  return `${text.slice(0, kept - tail).toWellFormed()}${mark}${tail === 0 ? '' : text.slice(-tail).toWellFormed()}`;
}
