import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { describePeer } from '@gaia-mesh/stacks/languages/installation.ts';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/cli.ts';
import { runWith, startAgent } from '../../testing/started-agent.ts';
import { writtenFile } from '../../testing/team-file.ts';

const client = path.join(codeFolder, 'clients', 'python');
const { command: python } = describePeer('python');
const isThere = existsSync(path.join(path.dirname(python), 'pytest'));
if (!isThere && process.env.CI !== 'true')
  console.warn('skipped: the client for Python is tested with scripts/testing/install-peers.sh');

describe.skipIf(!isThere && process.env.CI !== 'true')('the client for Python', () => {
  test('passes its own tests', () => {
    const tests = spawnSync(python, ['-B', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests'], {
      cwd: client,
      encoding: 'utf8',
    });
    expect(tests.stdout + tests.stderr).toMatch(/\d+ passed in/);
    expect(tests.status).toBe(0);
  });

  test('answers in a run by the program that its guide shows, over json and msgpack', async () => {
    const guide = readFileSync(path.join(client, 'README.md'), 'utf8');
    const [, text = ''] = /```python\n([\s\S]*?)```/.exec(guide) ?? [];
    expect(text.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(15);
    const port = await startAgent([python, '-B', writtenFile(temporaryFolder(), 'first_sentence.py', text)], {
      PYTHONPATH: client,
    });
    for (const adapter of ['json', 'msgpack'])
      expect(await runWith(port, '--adapter', adapter)).toMatchObject({
        answer: 'The mill was built in 1804',
        refused_packets: 0,
        ledger: { balanced: true },
      });
  });
});
