import { type ErrorCode, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { afterEach, expect, test, vi } from 'vitest';
import { runProgram } from './program.ts';
import { resumption } from './resume-command.ts';

const { argv, exitCode } = process;
afterEach(() => {
  process.argv = argv;
  process.exitCode = exitCode;
  vi.restoreAllMocks();
});

/** Runs a command of the words `words` that throws `error` after `before`, and returns what it printed. */
async function fail(error: Error, before: () => void, words: readonly string[] = ['--limit', '3']) {
  let printed = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  process.argv = [...argv.slice(0, 2), 'ask', ...words];
  await runProgram({
    name: 'gaia-mesh',
    description: '',
    commands: [
      {
        name: 'ask',
        group: '',
        summary: '',
        load: async () => (command) => {
          command
            .option('--limit <n>')
            .option('--resume')
            .action(() => {
              before();
              throw error;
            });
        },
      },
    ],
  });
  return printed;
}

const full = () =>
  Object.assign(new Error('ENOSPC: no space left on device, write'), {
    ...{ code: 'ENOSPC', syscall: 'write', errno: -28 },
  });
const ABORTS: readonly (readonly [string, Error])[] = [
  ['a full disk', full()],
  ...(['io', 'store', 'engine', 'agent', 'handshake', 'limit', 'interrupted'] as const).map(
    (code: ErrorCode) => [code, new MeshError(code, 'it broke')] as const,
  ),
];

test.each(ABORTS)(
  'a batch that %s ends says how to go on from the first finished answer on',
  async (_, error) => {
    expect(await fail(error, () => resumption.plan())).toMatch(/\. To ask again: .*ask -- --limit 3\n$/);
    expect(await fail(error, () => resumption.begin())).toMatch(
      /\. Finished answers are kept\. To go on: .*ask -- --limit 3 --resume\n$/,
    );
    expect(await fail(error, () => resumption.plan(), ['--resume', '--limit', '3'])).toMatch(
      /\. To go on: .*ask -- --resume --limit 3\n$/,
    );
  },
);

test.each(['usage', 'config', 'locked'] as const)(
  'a batch that cannot run as it was asked for (%s) is not asked again as it is',
  async (code) => {
    expect(await fail(new MeshError(code, 'it is wrong'), () => resumption.begin())).toBe(
      'gaia-mesh: it is wrong\n',
    );
  },
);

test('the command that goes on has no limit that the batch used up', () => {
  const words = ['--max-tokens', '30', '--limit', '3', '--max-cost=0.1', '--max-time', '9'];
  process.argv = [...argv.slice(0, 2), 'gaia', ...words];
  const end = { kind: 'limit', reason: '' } as const;
  expect(resumption.command({ ...end, isUsedUp: true })).toMatch(/gaia -- --limit 3 --max-time 9 --resume$/);
  expect(resumption.command(end)).toContain('--max-tokens 30');
});
