import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, temporaryFolder } from '../../testing/cli.ts';
import { RawAgent } from '../../testing/raw-agent.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

describe('what is printed', () => {
  /** A run of one agent of the test's own, which answers at once or never. */
  async function benchOf(
    answer: string | undefined,
    args: readonly string[],
    env: Record<string, string> = {},
    out = temporaryFolder(),
  ) {
    const agent = await RawAgent.listen({
      id: '3',
      tool: 'reason',
      onPacket: (packet, self) => answer !== undefined && self.answer(packet, answer),
    });
    const team = teamFile({ final: 3, agents: [agent.entry] });
    const document = writtenFile(temporaryFolder(), 'note.txt', 'A short note.');
    const result = await callCli(
      [
        ...['bench', '--team', team, '--external', '3', '--out', out],
        ...['--document', document, '--question', 'Is it?', ...args],
      ],
      { env },
    );
    return { ...result, out, lines: result.stdout.split('\n') };
  }

  test('with --json is one JSON value on stdout, the metrics, and everything else on stderr', async () => {
    const { code, stdout, stderr, out } = await benchOf('yes', ['--json']);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(readMetrics(out));
    expect(stderr).toContain('doc_init');
    expect(stderr).not.toContain('DONE');
  });

  test('with --quiet is the answer and the files, nothing on stderr', async () => {
    const { code, lines, stderr } = await benchOf('yes', ['--quiet']);

    expect(code).toBe(0);
    expect(lines).toEqual(['yes', expect.stringMatching(/^✅ DONE → See /), '']);
    expect(stderr).toBe('');
  });

  test('is the answer, although the archive cannot be written, which is said and exits with 1', async () => {
    const out = temporaryFolder();
    mkdirSync(path.join(out, 'run_artifacts.tar.gz.part'));
    const { code, stdout, stderr } = await benchOf('yes', [], {}, out);

    expect(code).toBe(1);
    expect(stdout).toMatch(/^Answer +yes/m);
    expect(stdout).not.toContain('DONE');
    expect(stderr).toMatch(
      /^gaia-mesh: the run has its figures, but no whole archive: .*\.part: a folder stands where/m,
    );
    expect(readMetrics(out)).toMatchObject({ status: 'answered', answer: 'yes' });
  });

  test('has no DONE line when no answer came', async () => {
    const { stdout, stderr } = await benchOf(undefined, ['--timeout', '0.1']);

    expect(stdout).not.toContain('DONE');
    expect(stderr).toMatch(/Run timed out\. Partial results: .*metrics\.json and .*run_artifacts\.tar\.gz/);
  });

  test('never lets an answer drive the terminal', async () => {
    const { stdout } = await benchOf('\u001b[2Jred \u001b]0;title\u0007 alert', []);

    expect(stdout).toBe(stripVTControlCharacters(stdout));
  });

  test('is not needed: a run whose output nobody reads on is finished and written', async () => {
    const out = temporaryFolder();
    const { promise: asked, resolve } = Promise.withResolvers<Packet>();
    const agent = await RawAgent.listen({ id: '3', tool: 'reason', onPacket: resolve });
    const team = teamFile({ final: 3, agents: [agent.entry] });
    const run = new Cli(['bench', '--team', team, '--external', '3', '--out', out]);
    const packet = await asked;
    run.hangUp();
    agent.answer(packet, 'yes');

    expect(await run.ended()).toMatchObject({ code: 0, signal: null });
    expect(readMetrics(out)).toMatchObject({ status: 'answered', answer: 'yes' });
  });

  test('has colours with FORCE_COLOR, and none with NO_COLOR', async () => {
    const coloured = await benchOf('yes', [], { FORCE_COLOR: '1' });
    const plain = await benchOf('yes', [], { NO_COLOR: '1' });

    expect(coloured.stdout).toContain('\u001b[');
    expect(plain.stdout + plain.stderr).not.toContain('\u001b');
  });
});
