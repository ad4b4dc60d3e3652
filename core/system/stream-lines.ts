/** Any of the three line ends of server-sent events (HTML standard, §9.2); a CR at the end may be half of one. */
const EVENT_LINE_END = /\r\n|\n|\r(?!$)/;

interface LineBounds {
  readonly end?: string | RegExp;
  /** Throws if a line has too many characters, or the stream too many bytes. */
  readonly check: (lineCharacters: number, streamBytes: number) => void;
}

/**
 * Yields the lines of a stream of UTF-8 as they arrive, without a byte order mark; the last needs no line end. A
 * line in many pieces is joined once, so that it is neither copied nor searched with each piece.
 */
export async function* streamLines(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { end = EVENT_LINE_END, check }: LineBounds,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let begun: string[] = [];
  let characters = 0;
  let bytes = 0;
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    const isSplit = begun.at(-1)?.endsWith('\r') === true;
    begun.push(text);
    characters += text.length;
    bytes += chunk.length;
    if (isSplit || /[\r\n]/.test(text)) {
      const lines = begun.join('').split(end);
      const rest = lines.pop() ?? '';
      for (const line of lines) {
        check(line.length, bytes);
        yield line;
      }
      begun = rest === '' ? [] : [rest];
      characters = rest.length;
    }
    check(characters, bytes);
  }
  const last = begun.join('') + decoder.decode();
  if (last !== '') yield last.replace(/\r$/, '');
}
