import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { startModelServer } from '@gaia-mesh/tools/fixtures/model-server.ts';
import { expect, test } from 'vitest';
import { runLab } from '../testing/run-lab.ts';

/** Labels in the shape of the public Who&When set, written by hand: nothing is taken from the set. */
const failure = (id: string, agent: string, step: string) => ({
  question: 'How many?',
  question_ID: id,
  history: [
    { role: 'human', content: 'How many?' },
    { role: 'Orchestrator (-> Web Surfer)', content: 'Look.' },
    { role: 'Web Surfer', content: 'Two.' },
    { role: 'Orchestrator (thought)', content: 'So it is two.' },
  ],
  mistake_agent: agent,
  mistake_step: step,
});

function writeSet() {
  const folder = temporaryFolder();
  const write = (name: string, value: object) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), JSON.stringify(value));
  };
  write('Hand-Crafted/1.json', failure('a', 'WebSurfer', '2'));
  write('Hand-Crafted/2.json', failure('b', 'Orchestrator', '1'));
  write('Algorithm-Generated/1.json', failure('c', 'Orchestrator', '3'));
  return folder;
}

test('attributions are scored against labels, by set and together, with intervals', async () => {
  const labels = writeSet();
  const file = path.join(labels, 'said.jsonl');
  const said = [
    { file: 'Hand-Crafted/1.json', agent: 'Web Surfer', step: 2 },
    { question_ID: 'b', mistake_agent: 'Orchestrator', mistake_step: '3' },
  ];
  writeFileSync(file, said.map((line) => JSON.stringify(line)).join('\n'));
  const { code, stdout, stderr } = await runLab(['lab:attribution', file, '--labels', labels, '--json']);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('1 of 3 failures have no attribution');
  const { scores } = JSON.parse(stdout);
  expect(scores).toMatchObject([
    { set: 'Algorithm-Generated', what: 'agent', right: 0, failures: 1 },
    { set: 'Algorithm-Generated', what: 'step', right: 0, failures: 1, chance: 0.25 },
    { set: 'Hand-Crafted', what: 'agent', right: 2, failures: 2 },
    { set: 'Hand-Crafted', what: 'step', right: 1, failures: 2 },
    { set: 'all', what: 'agent', right: 2, failures: 3 },
    { set: 'all', what: 'step', right: 1, failures: 3 },
  ]);
  // Wilson's interval of 1 of 3.
  expect(scores.at(-1).low).toBeCloseTo(0.0615, 3);
  expect(scores.at(-1).high).toBeCloseTo(0.7923, 3);
});

test('files without attributions or labels are refused with what is expected', async () => {
  const labels = writeSet();
  const none = path.join(labels, 'none.json');
  writeFileSync(none, '{"hello":1}');
  expect(await runLab(['lab:attribution', none, '--labels', labels])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('expected lines such as'),
  });
  expect(await runLab(['lab:attribution', none, '--labels', none])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('expected failures with mistake_agent'),
  });
});

test('a model is asked for the attributions that the file lacks', async () => {
  const labels = writeSet();
  const file = path.join(labels, 'said.jsonl');
  writeFileSync(file, '{"file":"Hand-Crafted/1.json","agent":"Web Surfer","step":2}\n');
  const server = await startModelServer([{ content: '{"agent": "Orchestrator", "step": 1}' }]);
  try {
    const engine = ['--engine', 'ollama', '--host', server.url, '--model', 'm'];
    const { code, stdout, stderr } = await runLab([
      ...['lab:attribution', file, '--labels', labels, '--json', ...engine],
    ]);
    expect(code, stderr).toBe(0);
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests[0])).toContain('Step 1, Orchestrator: Look.');
    expect(JSON.parse(stdout).scores.at(-1)).toMatchObject({ set: 'all', what: 'step', right: 2 });
  } finally {
    await server.close();
  }
});
