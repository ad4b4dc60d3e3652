import { expect, test } from 'vitest';
import { designs } from './testing/planted.ts';
import { playDesign } from './testing/play-design.ts';

/** Real processes; `npm run lab:attribution` does the same for all defects and many seeds. */

const TIMEOUT_MS = 240_000;

test(
  'a history that a server copies for each message is found in the protocol that it was planted in',
  async () => {
    const history = designs(true).find(({ name }) => name === 'history');
    if (history === undefined) throw new Error('there is no such design');
    const { blamed, texts } = await playDesign(
      { ...history, settings: [], invocations: 6 },
      { seed: 1, measuredMs: 400, signal: new AbortController().signal },
    );
    expect(blamed, texts.join('\n')).toEqual(['protocol']);
  },
  TIMEOUT_MS,
);
