import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { parseRecording, RECORDING_FILE } from '@gaia-mesh/core/recording/recording.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { runCli, temporaryFolder } from '../../testing/cli.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { startAgent } from '../../testing/started-agent.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

const guide = readFileSync(path.join(codeFolder, 'docs', 'wire-format.md'), 'utf8');
const folder = temporaryFolder();

/** The guide's program in that language, written to a file. */
function programOf(language: string, name: string): string {
  const [, text] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide) ?? [];
  if (text === undefined) throw new Error(`the guide shows nothing in ${language}`);
  expect(text.trim().split('\n').length, `lines of ${language}`).toBeLessThan(60);
  return writtenFile(folder, name, text);
}

/** Passes bytes on between the hub and the agent at `port`, and counts them: `toAgent` is what the hub wrote. */
async function countingProxy(port: number) {
  const bytes = { toAgent: 0, fromAgent: 0 };
  const server = net.createServer((hub) => {
    const agent = net.connect({ host: '127.0.0.1', port });
    hub.on('data', (chunk) => {
      bytes.toAgent += chunk.length;
    });
    agent.on('data', (chunk) => {
      bytes.fromAgent += chunk.length;
    });
    hub.pipe(agent).pipe(hub);
    for (const [socket, other] of [
      [hub, agent],
      [agent, hub],
    ] as const)
      socket.on('error', () => other.destroy());
  });
  const own = await listenOnPlace(server, { port: 0 });
  onTestFinished(() => {
    server.close();
  });
  return { bytes, port: own };
}

/** An agent of the guide that listens, and runs with it; each run ends before the next one begins. */
async function agentOf(command: readonly [string, ...string[]], env: Readonly<Record<string, string>> = {}) {
  const port = await startAgent(command, env);
  const proxy = await countingProxy(port);
  const team = teamFile({ final: 0, agents: [{ id: 0, tool: 'reason', port: proxy.port }] });
  return async () => {
    const out = temporaryFolder();
    const document = writtenFile(
      out,
      'text.txt',
      'The mill was built in 1804. It burned down later. "Nobody" knows why.',
    );
    const options = ['--team', team, '--external', '0', '--out', out, '--document', document];
    const run = await callCli(['bench', ...options, '--question', 'What happened first?'], { env });
    expect(run.code, run.stderr).toBe(0);
    expect(readMetrics(out)).toMatchObject({
      status: 'answered',
      answer: 'The mill was built in 1804',
      refused_packets: 0,
    });
    const { written, read } = readMetrics(out).ledger;
    expect({ toAgent: written.sockets, fromAgent: read.sockets }).toEqual(proxy.bytes);
    Object.assign(proxy.bytes, { toAgent: 0, fromAgent: 0 });
    return { out, stdout: run.stdout, archive: path.join(out, 'run_artifacts.tar.gz') };
  };
}

async function runWith(command: readonly [string, ...string[]], env: Readonly<Record<string, string>> = {}) {
  return (await agentOf(command, env))();
}

/** The hub's record is the record: nothing that such an agent says is missing, and what it does not say is shown as unknown. */
function expectWholeRecord({ out, stdout }: { out: string; stdout: string }): void {
  const { packets } = parseRecording(
    readFileSync(path.join(out, 'workspaces', RECORDING_FILE), 'utf8'),
    RECORDING_FILE,
  );
  const metrics = readMetrics(out);
  expect(packets.slice(1)).toEqual([
    {
      cause: packets[0]?.packet.id,
      inferred: true,
      tool_us: null,
      relayed: expect.objectContaining({ bytes: metrics.bytes_rx }),
      packet: expect.objectContaining({ payload: { answer: 'The mill was built in 1804' } }),
    },
  ]);
  const { ledger, header_overhead, hops, time_us } = metrics;
  expect(ledger).toMatchObject({ balanced: true, unbooked_bytes: 0 });
  expect(ledger.types.data_event?.wire).toBe(metrics.bytes_rx);
  expect(header_overhead).toBe(ledger.types.data_event?.header_size);
  expect(hops[0]).toMatchObject({ tool_us: null, mesh_us: null });
  expect(time_us?.unknown).toBeGreaterThan(0);
  expect(stdout).toMatch(/elapsed ms {2}in tools {2}in mesh[^\n]*\n\s+[\d.]+ +– +– /);
}

const hasPython = spawnSync('python3', ['--version']).status === 0;
const hasCompiler = spawnSync('cc', ['--version']).status === 0;

describe('the guide’s agent in Python', () => {
  test.skipIf(!hasPython)('answers in a run', async () => {
    await runWith(['python3', programOf('python', 'first_sentence.py')]);
  });

  test.skipIf(!hasPython)('is recorded whole in every run, and the recording plays again', async () => {
    const run = await agentOf(['python3', programOf('python', 'first_sentence.py')]);
    await run();

    const second = await run();

    expectWholeRecord(second);
    const replay = await runCli([
      ...['compare', '--recording', second.archive, '--adapters', 'msgpack', '--json'],
      ...['--invocations', '1', '--rounds', '1', '--out', path.join(second.out, 'compared')],
    ]);
    expect(replay.code, replay.stderr).toBe(0);
    expect(replay.stderr).toContain('The cause of 1 of 2 packets is inferred');
    expect(replay.stderr).toContain('The tool time of 1 of 2 packets is unknown');
    const report = await callCli(['report', second.archive, '--out', path.join(second.out, 'page')]);
    expect(report.code, report.stderr).toBe(0);
  });

  test.skipIf(!hasPython)(
    'that is in the middle of a frame when the run ends leaves the ledger balanced',
    async () => {
      const whole = readFileSync(programOf('python', 'first_sentence.py'), 'utf8');
      const half = whole.replace(
        'send(link, answer(packet, number))',
        'blob = compact(answer(packet, number)); link.sendall(struct.pack(">I", len(blob)) + blob + struct.pack(">I", 5000) + b"half")',
      );
      expect(half).not.toBe(whole);
      const { out } = await runWith(['python3', writtenFile(folder, 'half.py', half)]);
      expect(readMetrics(out).ledger).toMatchObject({ balanced: true, read: { torn: 8 } });
    },
  );

  test.skipIf(!hasPython)('proves that it knows the secret of the run', async () => {
    const program = programOf('python', 'first_sentence.py');
    await runWith(['python3', program], { GAIA_MESH_SECRET: 'a secret of both' });
  });
});

describe('the guide’s agent in C', () => {
  test.skipIf(!hasCompiler)('answers in a run', async () => {
    const program = path.join(folder, 'first_sentence');
    const built = spawnSync('cc', ['-O2', '-Wall', '-o', program, programOf('c', 'first_sentence.c')]);
    expect(built.stderr.toString()).toBe('');
    expectWholeRecord(await runWith([program]));
  });
});
