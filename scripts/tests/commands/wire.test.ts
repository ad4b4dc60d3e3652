import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import golden from '../../../protocols/testing/golden-packets.json' with { type: 'json' };
import { entry, runCli, temporaryFolder } from '../../testing/cli.ts';
import { writtenFile } from '../../testing/team-file.ts';

const packets = golden.map(({ packet }) => JSON.stringify(packet));
const input = packets.map((line) => `${line}\n`).join('');
const linesOf = (text: string) => text.split('\n').slice(0, -1);
const SIGNED = 'msgpack+zstd+ed25519+aes-256-gcm+crc32c';

describe('wire', () => {
  test.each(['json', 'msgpack'] as const)(
    'encodes golden packets as %s to golden bytes, and decodes them',
    async (adapter) => {
      const blobs = golden.map((sample) =>
        adapter === 'json' ? Buffer.from(sample.json).toString('hex') : sample.msgpack,
      );

      const encoded = await runCli(['wire', 'encode', '--adapter', adapter], { stdin: input });
      expect(encoded).toMatchObject({ code: 0, stderr: '' });
      expect(linesOf(encoded.stdout)).toEqual(blobs);

      const decoded = await runCli(['wire', 'decode', '--adapter', adapter, '--hex'], {
        stdin: encoded.stdout,
      });
      expect(decoded).toMatchObject({ code: 0, stderr: '', stdout: input });
    },
  );

  test.each(['json', 'msgpack', 'a2a', 'protobuf', 'mcp'])(
    'gives back payload keys with escapes as they were, whatever keys came before, as %s',
    async (adapter) => {
      const sent = [
        { h: [], '\\': 0 },
        { h: 1, '\n': 2 },
      ].map((payload, id) => ({
        ...golden[0]?.packet,
        id: `p-${id}`,
        payload,
      }));
      const stdin = sent.map((packet) => `${JSON.stringify(packet)}\n`).join('');
      const encoded = await runCli(['wire', 'encode', '--adapter', adapter], { stdin });
      const decoded = await runCli(['wire', 'decode', '--adapter', adapter], { stdin: encoded.stdout });
      expect(decoded).toMatchObject({ code: 0, stderr: '' });
      const texts = linesOf(decoded.stdout);
      sent.forEach(({ payload }, i) => {
        expect(texts[i]).toContain(`"payload":${JSON.stringify(payload)}`);
      });
    },
  );

  test('writes base64, too', async () => {
    const encoded = await runCli(['wire', 'encode', '--adapter', 'json', '--base64'], { stdin: input });
    expect(linesOf(encoded.stdout)).toEqual(golden.map(({ json }) => Buffer.from(json).toString('base64')));

    const decoded = await runCli(['wire', 'decode', '--adapter', 'json', '--base64'], {
      stdin: encoded.stdout,
    });
    expect(decoded).toMatchObject({ code: 0, stdout: input });
  });

  test.each(['json', 'msgpack'] as const)(
    'says what the bytes of golden packets are for as %s',
    async (adapter) => {
      const { code, stdout } = await runCli(['wire', 'ledger', '--adapter', adapter], { stdin: input });

      expect(code).toBe(0);
      const rows = linesOf(stdout).map((line) => JSON.parse(line));
      expect(Object.keys(rows[0])).toEqual([
        ...['wire', 'payload', 'framing', 'envelope', 'payload_coding', 'layers', 'header_size', 'net'],
      ]);
      expect(rows).toEqual(golden.map((sample) => expect.objectContaining(sample.rows[adapter])));
    },
  );

  test('puts layers on a line of their own, without keys of anybody’s', async () => {
    const { code, stdout } = await runCli(['wire', 'ledger', '--adapter', 'json+ed25519+crc32c'], {
      stdin: input,
    });

    expect(code).toBe(0);
    for (const [index, line] of linesOf(stdout).entries()) {
      const row: Record<string, number> = JSON.parse(line);
      const bare = golden[index]?.rows.json;
      expect(row).toMatchObject({
        layers: 80,
        wire: (bare?.wire ?? 0) + 80,
        header_size: (bare?.header_size ?? 0) + 80,
      });
    }
  });

  test('shares keys through a session file that is its owner’s alone', async () => {
    const session = path.join(temporaryFolder(), 'session.json');
    const encode = () =>
      runCli(['wire', 'encode', '--adapter', SIGNED, '--session', session], { stdin: input });

    const first = await encode();
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(statSync(session).mode & 0o777).toBe(0o600);
    const secret = readFileSync(session, 'utf8');
    const second = await encode();
    expect(readFileSync(session, 'utf8')).toBe(secret);
    expect(second.stdout).not.toBe(first.stdout);

    const both = await runCli(['wire', 'decode', '--adapter', SIGNED, '--session', session], {
      stdin: first.stdout + second.stdout,
    });
    expect(both).toMatchObject({ code: 0, stderr: '', stdout: input + input });
    const keys = await runCli(['wire', 'decode', '--adapter', SIGNED, '--keys', session], {
      stdin: first.stdout,
    });
    expect(keys).toMatchObject({ code: 0, stderr: '', stdout: input });
  });

  test('works in a pipe with a session that is new', async () => {
    const folder = temporaryFolder();
    const file = writtenFile(folder, 'packets.jsonl', input);
    const call = (what: string) =>
      `"${process.execPath}" "${entry}" wire ${what} --adapter ${SIGNED} --session "${folder}/session.json"`;
    const { code, stdout } = await runCli(['-c', `${call('encode')} < "${file}" | ${call('decode')}`], {
      program: 'sh',
    });

    expect([code, stdout]).toEqual([0, input]);
  });

  test('refuses what is forged, replayed, cut or of other keys, names the line, and goes on', async () => {
    const folder = temporaryFolder();
    const session = path.join(folder, 'session.json');
    const [one = '', two = ''] = packets;
    const encode = (file: string, stdin: string) =>
      runCli(['wire', 'encode', '--adapter', SIGNED, '--session', path.join(folder, file)], { stdin });
    const blobs = linesOf((await encode('session.json', `${one}\n${two}\n`)).stdout);
    const foreign = linesOf((await encode('other.json', `${one}\n`)).stdout);
    const forged = blobs[0]?.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));

    const { code, stdout, stderr } = await runCli(
      ['wire', 'decode', '--adapter', SIGNED, '--session', session],
      {
        stdin: [forged, blobs[0], blobs[0], blobs[1]?.slice(2), foreign[0], 'xyz', '', blobs[1]].join('\n'),
      },
    );

    expect(code).toBe(1);
    expect(stdout).toBe(`${one}\n${two}\n`);
    expect(linesOf(stderr)).toEqual([
      expect.stringContaining('line 1: crc32c'),
      expect.stringContaining('line 3: aes-256-gcm: frame'),
      expect.stringContaining('line 4: crc32c'),
      expect.stringContaining('line 5: aes-256-gcm: it is from nobody'),
      expect.stringContaining('line 6: not hex: xyz'),
    ]);
  });

  test('refuses lines that are no packets, names them, and goes on', async () => {
    const [one = ''] = packets;
    const twice = one.replace('{', '{"type":"other",');
    const { code, stdout, stderr } = await runCli(['wire', 'encode', '--adapter', 'json'], {
      stdin: ['{', '{"type":"x"}', one, '', twice].join('\n'),
    });

    expect(code).toBe(1);
    expect(linesOf(stdout)).toHaveLength(1);
    expect(linesOf(stderr)).toEqual(
      [1, 2, 5].map((line) => expect.stringContaining(`line ${line}: not a packet`)),
    );
  });

  test.each([
    ['an adapter with keys and no file for them', ['encode', '--adapter', 'json+ed25519'], '--session FILE'],
    [
      'a key file that is not there',
      ['decode', '--adapter', 'json+ed25519', '--keys', 'none.json'],
      'no such file',
    ],
    [
      'two files for the keys',
      ['encode', '--adapter', 'json', '--keys', 'a', '--session', 'b'],
      'one of --keys',
    ],
    ['two ways to write bytes', ['encode', '--adapter', 'json', '--hex', '--base64'], 'one of --hex'],
    ['something else to do', ['translate', '--adapter', 'json'], 'encode, decode or ledger'],
    ['an adapter that there is not', ['encode', '--adapter', 'jsom'], 'unknown adapter'],
  ])('does not take %s', async (_, args, reason) => {
    const { code, stdout, stderr } = await runCli(['wire', ...args], { stdin: '00\n' });

    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(reason);
  });

  test('does not write for a sender whom the key file does not name', async () => {
    const keys = writtenFile(
      temporaryFolder(),
      'keys.json',
      JSON.stringify({
        schema_version: 1,
        run_id: 'r',
        secret: 'ab'.repeat(32),
        members: ['hub', 'planner'],
      }),
    );
    const { code, stderr } = await runCli(['wire', 'encode', '--adapter', 'json+ed25519', '--keys', keys], {
      stdin: input,
    });

    expect(code).toBe(2);
    expect(stderr).toContain('ingest is no member: the key file names hub, planner');
  });

  test('says what is wrong with a key file', async () => {
    const keys = writtenFile(temporaryFolder(), 'keys.json', '{"schema_version":1,"secret":"abc"}');
    const { code, stderr } = await runCli(['wire', 'decode', '--adapter', 'json+ed25519', '--keys', keys], {
      stdin: '00\n',
    });

    expect(code).toBe(2);
    expect(stderr).toContain(keys);
    expect(stderr).toContain('secret: must be 32 bytes in hex');
  });
});
