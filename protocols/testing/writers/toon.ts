import { encode } from '@toon-format/toon';
import type { EnvelopeWriter } from '../../contract/suite.ts';

/** Writes key by key, so that one can stand there twice. */
export const toonWriter: EnvelopeWriter = {
  write(envelope) {
    const lines = Object.entries(envelope).map(([key, value]) => encode({ [key.replace(/^§/, '')]: value }));
    return Buffer.from(`${lines.join('\n')}\n\n`);
  },
  pieces: [
    ...[
      '"',
      '\\',
      ' ',
      '  ',
      '\n',
      '\n\n',
      '-',
      '- ',
      '  - \n',
      '#',
      ':',
      ',',
      '[',
      ']',
      '[1]',
      '[1]:\n',
      '{',
      '}',
      '{a',
    ],
    ...['1', 'x', 'id: y\n', '\t', '\r'],
  ],
};
