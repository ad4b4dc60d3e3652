import { readFileSync } from 'node:fs';
import path from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { jsonLines, temporaryFolder } from '../../testing/cli.ts';
import { MEMBER_SECRET, MemberAgent, type Misdeed } from '../../testing/member-agent.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { teamFile } from '../../testing/team-file.ts';

/**
 * A run of a member that does `misdeed` when the document comes and answers when an `awaited` packet does, and of a real agent that works
 * on `events`.
 */
async function runWith(adapter: string, misdeed: Misdeed, awaited = 'doc_init') {
  const out = temporaryFolder();
  const member = await MemberAgent.listen('0', 'reason', (packet, self) => {
    if (packet.type === 'doc_init') misdeed(packet, self);
    if (packet.type !== awaited) return;
    const answer = { type: 'data_event', tag: 'final_answer', payload: { answer: 'still here' } } as const;
    self.send(self.encode(self.packet(packet, answer)));
  });
  const agents = [
    { id: 0, tool: 'reason', port: member.port },
    { id: 1, tool: 'triple' },
  ];
  const team = teamFile({ final: 0, adapter, agents });
  const options = ['--external', '0', '--port-base', 'auto', '--out', out, '--timeout', '20'];
  const run = await callCli(['bench', '--team', team, ...options], {
    env: { GAIA_MESH_SECRET: MEMBER_SECRET },
  });
  expect(run.code, run.stderr).toBe(0);
  const metrics = readMetrics(out);
  expect(metrics).toMatchObject({ status: 'answered', answer: 'still here' });
  const agentLog = jsonLines(path.join(out, 'workspaces', '1', 'agent.log'));
  return {
    run,
    metrics,
    hubLog: readFileSync(path.join(out, 'workspaces', 'hub.log'), 'utf8'),
    refusedByAgent: agentLog.filter((line) => 'refused' in line).length,
    sentByAgent: agentLog.filter((line) => line.dir === 'sent').length,
  };
}

const events = { type: 'events', payload: { question: 'Why?', events: [] } };

const turnOneBit: Misdeed = (document, member) => {
  const said = Buffer.from(member.encode(member.packet(document, events)));
  said[said.length - 1] = (said.at(-1) ?? 0) ^ 1;
  member.send(said);
};

/** The same packet in other words: it is well-formed, and only the signature tells. */
const turnOneLetter: Misdeed = (document, member) => {
  const said = Buffer.from(member.encode(member.packet(document, events)));
  said.write('Who?', said.indexOf('Why?'));
  member.send(said);
};

const sendTwice: Misdeed = (document, member) => {
  const said = member.encode(member.packet(document, events));
  member.send(said);
  member.send(Buffer.from(said));
};

// What a hub opens in order to relay it, it refuses itself.
describe.each([
  'json+crc32c',
  'cbor+chacha20-poly1305',
  'json+aes-256-gcm',
  'msgpack+zstd+ed25519+chacha20-poly1305+crc32c',
  'anp-e2ee',
])('over %s, on a live mesh', (adapter) => {
  test('a frame with one bit turned is refused by the hub and counted, and the run goes on', async () => {
    const { run, metrics, hubLog, sentByAgent } = await runWith(adapter, turnOneBit);
    expect(metrics.refused_packets).toBe(1);
    expect(run.stderr).toContain('refused from 0');
    expect(hubLog).toMatch(/"event":"refused"/);
    expect(sentByAgent).toBe(0);
  });
});

describe.each(['json+aes-256-gcm', 'msgpack+chacha20-poly1305', 'anp-e2ee'])(
  'over %s, on a live mesh',
  (adapter) => {
    test('a frame that is sent a second time is refused by the hub and counted', async () => {
      const { metrics, refusedByAgent } = await runWith(adapter, sendTwice);
      expect(metrics.refused_packets).toBe(1);
      expect(metrics.agents[0]).toMatchObject({ packets_rx: 2, refused: 1 });
      expect(refusedByAgent).toBe(0);
    });
  },
);

// A signature is for the one who reads: the hub looks at the head alone.
describe.each(['msgpack+ed25519', 'anp'])('over %s, on a live mesh', (adapter) => {
  test('a frame with one letter changed is refused by the agent that would work on it', async () => {
    const { refusedByAgent, sentByAgent } = await runWith(adapter, turnOneLetter);
    expect(refusedByAgent).toBe(1);
    expect(sentByAgent).toBe(0);
  });

  test('a frame that is sent a second time is worked on once', async () => {
    // The agent has heard both when it is done with the first.
    const { refusedByAgent, sentByAgent } = await runWith(adapter, sendTwice, 'triples');
    expect(refusedByAgent).toBe(1);
    expect(sentByAgent).toBe(1);
  });
});

describe('on a live mesh', () => {
  test('a signed packet under another member’s name is refused (MP-76)', async () => {
    const { metrics } = await runWith('json+ed25519', (document, member) => {
      member.send(member.encode({ ...member.packet(document, events), from: 'hub' }));
    });
    expect(metrics.refused_packets).toBe(1);
  });

  test('a small frame that unpacks to 256 MB is refused', async () => {
    const { run, metrics } = await runWith('json+zstd', (_document, member) => {
      const params = { [constants.ZSTD_c_compressionLevel]: 1 };
      const bomb = zstdCompressSync(Buffer.alloc(256 * 1024 * 1024, 0x20), { params });
      expect(bomb.length).toBeLessThan(1024 * 1024);
      member.send(Buffer.concat([Buffer.of(1), bomb]));
    });
    expect(run.stderr).toMatch(/refused from 0: .*zstd/);
    expect(metrics.refused_packets).toBe(1);
  });
});
