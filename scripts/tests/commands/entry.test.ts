import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { describe, expect, test } from 'vitest';
import { Cli, type CliOptions, entry, isRunning, runCli, temporaryFolder } from '../../testing/cli.ts';
import { olderNode } from '../../testing/older-node.ts';

const older = olderNode();
if (older === undefined)
  console.warn('skipped: scripts/tests/commands/entry.test.ts needs a Node from 20 to 23 on the search path');

describe.skipIf(older === undefined)('the entry, started by an older Node', () => {
  const options: CliOptions = { program: older ?? '' };
  const agentByHand = async () => {
    const args = ['--id', '7', '--tool', 'search', '--port', '0', '--workspace', temporaryFolder()];
    const agent = new Cli([entry, 'agent', ...args], options);
    await agent.says(/agent 7 \(search\) listens/);
    return agent;
  };

  test('hands over to the Node that the project brought', async () => {
    const { code, stdout } = await runCli([entry, '--version'], options);

    expect(stdout.trim()).toBe(packageVersion);
    expect(code).toBe(0);
  });

  test('ends with the exit code of the command', async () => {
    const { code, stderr } = await runCli([entry, 'list', 'nonsense'], options);

    expect(stderr).toContain('cannot list "nonsense"');
    expect(code).toBe(2);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'passes %s on and waits for the command to tidy up',
    async (signal) => {
      const agent = await agentByHand();

      agent.signal(signal);

      expect(await agent.ended()).toMatchObject({ code: 0, signal: null });
    },
  );

  test('says how it ended when the command was killed', async () => {
    const agent = await agentByHand();

    agent.signal('SIGHUP');

    // As a shell counts: 128 and the signal's number.
    expect(await agent.ended()).toMatchObject({ code: 129, signal: null });
    expect(isRunning(agent.pid)).toBe(false);
  });
});
