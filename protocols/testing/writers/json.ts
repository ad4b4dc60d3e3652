import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { EnvelopeWriter } from '../../contract/suite.ts';

const NEST = '"§deep"';

/** Writes for every adapter whose envelope is plain JSON. */
export const jsonWriter: EnvelopeWriter = {
  read: (blob) => JSON.parse(Buffer.from(blob).toString()),
  write: (envelope, choose) => Buffer.from(written(envelope, choose)),
  nest: (envelope, depth) =>
    Buffer.from(written(envelope, () => 0).replace(NEST, '['.repeat(depth) + ']'.repeat(depth))),
  pieces: [
    ...[
      '"',
      '\\',
      '\\"',
      '""',
      '"\\\\"',
      '{',
      '}',
      '{}',
      '[',
      ']',
      ',',
      ':',
      ' ',
      '\n',
      '1',
      '-',
      '.',
      'e',
      'x',
      'é',
    ],
    ...['null', '\\u0074', '"type":', '"from":', '"id":', '{"a":', '{"":"}"', '{"'],
  ],
};

type Choose = Parameters<EnvelopeWriter['write']>[1];

/** Formats JSON as another implementation might: with white space and escapes wherever they are allowed. */
function written(value: JsonValue, choose: Choose): string {
  const space = () => ['', '', '', ' ', '\n', '\t\r ', '    '][choose(7)] ?? '';
  const around = (text: string) => `${space()}${text}${space()}`;
  if (typeof value === 'string') return around(quoted(value, choose));
  if (Array.isArray(value))
    return around(`[${value.map((item) => written(item, choose)).join(',') || space()}]`);
  if (typeof value !== 'object' || value === null) return around(JSON.stringify(value));
  const members = Object.entries(value).map(
    ([key, item]) => `${around(quoted(key.replace(/^§/, ''), choose))}:${written(item, choose)}`,
  );
  return around(`{${members.join(',') || space()}}`);
}

function quoted(text: string, choose: Choose): string {
  const pieces = JSON.stringify(text)
    .slice(1, -1)
    .matchAll(/\\u....|\\.|./gsu);
  const escaped = [...pieces].map(([piece]) =>
    piece.startsWith('\\') || choose(4) < 3 ? piece : unicodeEscape(piece, choose),
  );
  return `"${escaped.join('')}"`;
}

function unicodeEscape(text: string, choose: Choose): string {
  const units = Array.from({ length: text.length }, (_, i) =>
    text.charCodeAt(i).toString(16).padStart(4, '0'),
  );
  return units.map((unit) => `\\u${choose(2) === 0 ? unit : unit.toUpperCase()}`).join('');
}
