import { openStore } from '../open-store.ts';
import { sampleAttempt, sampleKey } from './samples.ts';

/**
 * Writes answers in a process: `write-answers.ts <url> <name> <count>`. After each answer that the store has acknowledged it
 * prints the question on a line. Every tenth one is also an attempt at the single question that all writers share.
 */
const [url = '', name = '', count = ''] = process.argv.slice(2);

const store = await openStore(url, {
  warn: (message) => process.stderr.write(`${message}\n`),
  connections: 1,
});
for (let i = 0; i < Number(count); i++) {
  const question = `${name}-${i}`;
  await store.cacheAnswer(sampleKey({ question }), `answer to ${question}`);
  if (i % 10 === 0) await store.recordAttempt(sampleAttempt({ attempt_id: question }));
  process.stdout.write(`${question}\n`);
}
await store.close();
process.stdout.write('done\n');
