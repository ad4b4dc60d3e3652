// A process that loads the embedded engine and answers one question, to measure its start. It prints its milliseconds
// of processor time.

import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import { createExtractiveEngine } from '@gaia-mesh/tools/engines/extractive.ts';
import { renderPrompt } from '@gaia-mesh/tools/engines/prompt.ts';
import { loadPrompt } from '@gaia-mesh/tools/prompts.ts';

const rows = Array.from({ length: 50 }, (_, at) => `| ${at + 2} | ${1900 + at} | Ship ${at} | ${at * 7} |`);
const document = ['| row | A: Year | B: Ship | C: Passengers |', '| --- | --- | --- | --- |', ...rows].join(
  '\n',
);
const messages = renderPrompt('answer-alone', loadPrompt('answer-alone'), {
  question: 'which ship carried the most passengers?',
  file: 'a.csv',
  document,
  answer_format: '',
});
const work = { signal: new AbortController().signal, countTokens: () => undefined };
const turn = await createExtractiveEngine().chat?.({ messages }, work);
if (turn?.finish !== 'stop') throw new Error('it has an answer');
process.stdout.write(String(cpuMs()));
