import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { testSession } from '@gaia-mesh/protocols/testing/session.ts';
import { extract as extractTar } from 'tar';
import { beforeAll, describe, expect, test } from 'vitest';
import { Cli, type CliResult, jsonLines, runCli, temporaryFolder } from '../../testing/cli.ts';
import { type Metrics, readManifest, readMetrics } from '../../testing/run-files.ts';
import { writtenFile } from '../../testing/team-file.ts';

const IDS = ['0', '1', '2', '3'];
const ENVELOPE = 'type from to id reply_to task_id tag token_used log_uri ts payload'.split(' ');
const FLOW = ['search_docs', 'events', 'triples', 'data_event'];

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe.each(['msgpack'])('the default team over %s', (adapter) => {
  const out = temporaryFolder();
  let run: CliResult;
  let pid: number;
  let metrics: Metrics;
  const agentLog = (id: string) => jsonLines(path.join(out, 'workspaces', id, 'agent.log'));
  const sent = (id: string) => agentLog(id).filter((line) => line.dir === 'sent');
  const received = (id: string) => agentLog(id).filter((line) => line.dir === 'received');
  const hubLog = () => jsonLines(path.join(out, 'workspaces', 'hub.log'));

  beforeAll(async () => {
    const cli = new Cli(['bench', '--adapter', adapter, '--port-base', 'auto', '--out', '.'], { cwd: out });
    pid = cli.pid;
    run = await cli.ended();
    metrics = readMetrics(out);
  });

  test('answers, and exits with 0 (MP-17, MP-70)', () => {
    expect(run).toMatchObject({ code: 0, signal: null });
    expect(metrics).toMatchObject({
      status: 'answered',
      answer: expect.stringMatching(/./),
      adapter,
      team: 'pipeline',
      engine: 'extractive',
      token_source: 'embedded',
      tasks: 1,
      answered: 1,
      refused_packets: 0,
      ack_bytes: 0,
    });
  });

  test('writes metrics.json indented by 2, with every specified number (MP-07, MP-40, MP-66)', () => {
    const text = readFileSync(path.join(out, 'metrics.json'), 'utf8');
    expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
    expect(metrics.token_sum).toBeGreaterThan(0);
    expect(metrics.elapsed_ms).toBeGreaterThan(0);
    expect(metrics.quality_score).toBeCloseTo(((metrics.exact_match ?? 0) + (metrics.rouge_l ?? 0)) / 2, 12);
  });

  test('relays each step’s packet in the order of the flow (MP-15)', () => {
    const events = hubLog().filter((line) => line.event === 'broadcast' || line.event === 'packet');
    expect(events[0]).toMatchObject({ event: 'broadcast', recipients: IDS.length });
    expect(events.slice(1).map((line) => line.type)).toEqual(FLOW);
    expect(events.slice(1).map((line) => line.from)).toEqual(IDS);
    expect(metrics.hops.map((hop) => hop.type)).toEqual(FLOW);
  });

  test('gives every agent the document first (MP-01)', () => {
    for (const id of IDS) expect(received(id)[0]).toMatchObject({ type: 'doc_init', from: 'hub' });
  });

  test('sends each packet to all others and never back to its sender (MP-11)', () => {
    for (const id of IDS) {
      const [packet] = sent(id);
      const receivers = IDS.filter((other) => received(other).some((line) => line.id === packet?.id));
      expect(receivers).toEqual(IDS.filter((other) => other !== id));
    }
    for (const type of FLOW) {
      const counts = metrics.packet_types[type];
      expect(counts?.packets).toBe(1);
      expect(counts?.bytes_tx).toBe((counts?.bytes_rx ?? 0) * (IDS.length - 1));
    }
  });

  test('forwards the bytes that it received (MP-12)', () => {
    for (const id of IDS) {
      const [packet] = sent(id);
      for (const other of IDS.filter((other) => other !== id)) {
        expect(received(other).find((line) => line.id === packet?.id)?.bytes).toBe(packet?.bytes);
      }
    }
  });

  test('runs each agent as a process of its own (MP-02)', () => {
    const pids = hubLog().flatMap((line) => (line.event === 'agent_up' ? [line.pid] : []));
    expect(new Set([...pids, pid]).size).toBe(IDS.length + 1);
  });

  test('balances the ledger against the sockets and the packets (MP-41, MP-42)', () => {
    const { ledger } = metrics;
    expect(ledger).toMatchObject({ balanced: true, differences: [], unbooked_bytes: 0 });
    const { written, read } = ledger;
    expect(written.packets + written.session + written.acks).toBe(written.sockets);
    expect(read.packets + read.session + read.acks + read.refused + read.torn).toBe(read.sockets);
    expect(metrics.bytes_tx).toBe(written.packets);
    expect(metrics.bytes_rx).toBe(read.packets);
    expect(metrics.session_bytes).toBe(written.session + read.session);
    expect(metrics.pkt_cnt).toBe(FLOW.length);
    for (const key of ['bytes_rx', 'bytes_tx', 'packets_rx', 'tokens'] as const) {
      const total = {
        bytes_rx: 'bytes_rx',
        bytes_tx: 'bytes_tx',
        packets_rx: 'pkt_cnt',
        tokens: 'token_sum',
      } as const;
      expect(sum(metrics.agents.map((agent) => agent[key] ?? Number.NaN))).toBe(metrics[total[key]]);
    }
  });

  test('splits every byte of every packet type into the ledger’s lines', () => {
    const { types, total } = metrics.ledger;
    expect(Object.keys(types).sort()).toEqual(['doc_init', ...FLOW].sort());
    for (const line of [...Object.values(types), total]) {
      expect(line.framing + line.envelope + line.payload + line.payload_coding + line.layers).toBe(line.wire);
      expect(line.framing).toBe(4 * line.packets);
      expect(line.header_size).toBe(line.framing + line.envelope);
      expect(line.net).toBe(line.wire - line.payload);
    }
    if (adapter === 'json') expect(total.payload_coding).toBe(0);
    else expect(total.payload_coding).toBeLessThan(0);
    const steps = FLOW.map((type) => types[type]);
    expect(sum(steps.map((line) => line?.wire ?? 0))).toBe(metrics.bytes_rx);
    expect(sum(steps.map((line) => line?.header_size ?? 0))).toBe(metrics.header_overhead);
    expect((types.doc_init?.wire ?? 0) * IDS.length).toBe(metrics.init_bytes);
    expect(metrics.init_bytes + 3 * metrics.bytes_rx).toBe(metrics.bytes_tx);
  });

  test('tags the final answer and leaves the record that it names (MP-24)', () => {
    const [packet] = sent('3');
    expect(packet).toMatchObject({
      type: 'data_event',
      tag: 'final_answer',
      payload: { answer: metrics.answer },
      log_uri: 'workspaces/3/reason.log',
      token_used: expect.any(Number),
    });
    expect(existsSync(path.join(out, String(packet?.log_uri)))).toBe(true);
  });

  test('logs every packet whole, as it was sent (MP-23, MP-54)', async () => {
    const codec = (await loadAdapter(adapter)).open(testSession);
    for (const id of IDS) {
      const lines = sent(id);
      expect(lines).toHaveLength(1);
      for (const line of lines) {
        const packet = Object.fromEntries(Object.entries(line).filter(([key]) => ENVELOPE.includes(key)));
        expect(codec.encode(parsePacket(packet)).length + 4).toBe(line.bytes);
        expect(received(id).map((other) => other.id)).toContain(line.cause);
      }
    }
  });

  test('keeps a memory file for each agent (MP-51)', () => {
    for (const [index, agent] of metrics.agents.entries()) {
      const file = path.join(out, 'workspaces', agent.id, 'memory.json');
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
        node_id: agent.id,
        tool: agent.tool,
        engine: 'extractive',
        packets_sent: 1,
        packets_received: agent.packets_tx,
        token_used: agent.tokens,
        tasks: [{ sent: FLOW[index] }],
      });
    }
  });

  test('archives the workspaces, the hub’s log and a manifest whose hashes hold (MP-67)', async () => {
    const folder = temporaryFolder();
    await extractTar({ file: path.join(out, 'run_artifacts.tar.gz'), cwd: folder });

    const required = [...IDS, 'hub.log', 'manifest.json', 'metrics.json', 'tasks.jsonl'];
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(required));
    const manifest = readManifest(folder);
    expect(manifest).toMatchObject({
      run_id: metrics.run_id,
      adapter,
      command: ['bench', '--adapter', adapter, '--port-base', 'auto', '--out', '.'],
      environment: { node: process.version, platform: process.platform },
      team: { name: 'pipeline' },
      omitted: [],
    });
    const unpacked = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
    expect(manifest.files.map((file) => file.path).sort()).toEqual(
      unpacked.filter((name) => name !== 'manifest.json').sort(),
    );
    for (const file of manifest.files) {
      const bytes = readFileSync(path.join(folder, file.path));
      expect([file.path, bytes.length]).toEqual([file.path, file.bytes]);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(file.sha256);
    }
    expect(readMetrics(folder)).toEqual(metrics);
    expect(jsonLines(path.join(folder, '3', 'agent.log')).filter((line) => line.dir === 'sent')).toEqual(
      sent('3'),
    );
  });

  test('shows a person the agents, the flow, a table and where the files are (MP-68)', () => {
    for (const id of IDS)
      expect(run.stderr).toMatch(new RegExp(`agent ${id} \\w+ +127\\.0\\.0\\.1:\\d+ +process \\d+`));
    for (const type of FLOW) expect(run.stderr).toMatch(new RegExp(`→ others +${type}.* B × 3`));
    expect(run.stdout).toContain('balanced');
    expect(run.stdout.trimEnd().split('\n').at(-1)).toBe(
      '✅ DONE → See metrics.json and run_artifacts.tar.gz',
    );
  });

  test('prints no control codes when it does not write to a terminal', () => {
    expect(run.stdout).toBe(stripVTControlCharacters(run.stdout));
    expect(run.stderr).toBe(stripVTControlCharacters(run.stderr));
  });

  test('can be made again from what its archive holds', async () => {
    const folder = temporaryFolder();
    await extractTar({ file: path.join(out, 'run_artifacts.tar.gz'), cwd: folder });
    const repeated = temporaryFolder();
    const { adapter: used, engine, team } = readManifest(folder);
    const again = await runCli([
      ...[
        'bench',
        '--team',
        writtenFile(folder, 'team.yaml', JSON.stringify(team)),
        '--adapter',
        used,
        '--engine',
        engine,
        '--port-base',
        'auto',
      ],
      ...['--tasks', path.join(folder, 'tasks.jsonl'), '--out', repeated, '--json'],
    ]);

    expect(again.code).toBe(0);
    const [result] = jsonLines(path.join(repeated, 'results.jsonl'));
    expect(result).toMatchObject({
      answer: metrics.answer,
      status: 'answered',
      token_sum: metrics.token_sum,
    });
    expect(result?.quality_score).toBe(metrics.quality_score);
  });
});
