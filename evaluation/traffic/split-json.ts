import { findStringEnd } from '@gaia-mesh/core/system/parse-json.ts';

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** One of the JSON values that a text consists of. */
interface TextValue {
  readonly text: string;
  /** Number of its first line, from 1. */
  readonly line: number;
}

/**
 * Yields the values of a text, each of which has a line to itself or, printed for people, several. A value
 * that is never closed ends before the next line that begins with a bracket.
 */
export function* splitJsonValues(text: string): Generator<TextValue> {
  let begun: { readonly lines: string[]; readonly line: number; depth: number } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const isBracket = line.startsWith('{') || line.startsWith('[');
    if (begun !== undefined && isBracket && begun.lines.length > 0) {
      yield* giveUp(begun);
      begun = undefined;
    }
    if (begun === undefined) {
      if (line.trim() === '') continue;
      const depth = countDepth(line);
      if (!isBracket || depth <= 0) yield { text: line, line: index + 1 };
      else begun = { lines: [line], line: index + 1, depth };
      continue;
    }
    begun.lines.push(line);
    begun.depth += countDepth(line);
    if (begun.depth > 0) continue;
    yield { text: begun.lines.join('\n'), line: begun.line };
    begun = undefined;
  }
  if (begun !== undefined) yield* giveUp(begun);
}

/** Yields the lines of a value that was never closed, one by one. */
function* giveUp({
  lines,
  line,
}: {
  readonly lines: readonly string[];
  readonly line: number;
}): Generator<TextValue> {
  for (const [index, text] of lines.entries()) if (text.trim() !== '') yield { text, line: line + index };
}

/** Returns the brackets that a line opens, less those that it closes. A string never spans lines. */
function countDepth(line: string): number {
  let depth = 0;
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(line, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
  }
  return depth;
}
