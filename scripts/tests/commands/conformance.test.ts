import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';

const reportSchema = z.object({
  conforms: z.boolean(),
  failed: z.array(z.object({ name: z.string(), reason: z.string() })),
});

/** A file with the adapter of the guide, in which encoding, decoding or the loading has a fault. */
function brokenAdapter({ encoded = 'packet', loading = '' }): string {
  const file = path.join(temporaryFolder(), 'broken.ts');
  writeFileSync(
    file,
    `import { MeshError, parseJsonText, parsePacket } from 'gaia-mesh';
${loading}
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const bytesOf = (packet) => new TextEncoder().encode(JSON.stringify(packet));
function encode(packet) { return bytesOf(${encoded}); }
function decode(blob) {
  try {
    return parsePacket(parseJsonText(decoder.decode(blob)));
  } catch (error) {
    throw new MeshError('packet', String(error), { cause: error });
  }
}
const headerSize = (packet) => 4 + bytesOf({ ...packet, payload: {} }).length - 2;
export const broken = { name: 'broken', open: () => ({ encode, decode, headerSize }) };
`,
  );
  return file;
}

async function failuresOf(file: string, ...options: readonly string[]) {
  const { code, stdout, stderr } = await callCli(['conformance', file, '--json', ...options]);
  const { conforms, failed } = reportSchema.parse(JSON.parse(stdout));
  expect({ code, conforms, stderr }).toEqual({ code: 1, conforms: false, stderr: '' });
  for (const { reason } of failed) expect(reason.length).toBeLessThan(2500);
  return new Map(failed.map(({ name, reason }) => [name, reason]));
}

describe('conformance', () => {
  test('of an adapter that ships with the project is whole', async () => {
    const run = await callCli(['conformance', 'msgpack', '--json']);
    expect(run.code, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ adapter: 'msgpack', conforms: true, failed: [] });
  });

  test('of a file that is none says what is expected', async () => {
    const missing = await callCli(['conformance', './nothing.ts']);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no such file') });
    const other = await callCli(['conformance', path.join(codeFolder, 'core', 'contracts', 'limits.ts')]);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('exports no adapter') });
  });
});

describe('conformance ends whatever the adapter does', () => {
  test('hangs: the check is named, and the suite ends when three have', async () => {
    // It sleeps, so that it leaves the processor to other tests.
    const loading = `const never = new Int32Array(new SharedArrayBuffer(4));
    function hang(packet) { if (packet.payload.text?.length > 1000) Atomics.wait(never, 0, 0); return packet; }`;
    const failed = await failuresOf(brokenAdapter({ loading, encoded: 'hang(packet)' }), '--timeout', '3');
    expect(failed.get('round trip: a text of 1 MiB')).toBe('stopped: it took longer than 3 s');
    expect([...failed.values()].filter((reason) => reason.startsWith('stopped'))).toHaveLength(3);
    expect(failed.get('random bytes are refused')).toBe('not run, because 3 checks had to be stopped');
  });

  test('loses a member, ends its process, and eats memory, within the heap and outside of it', async () => {
    const loading = `const eaten = [];
    function damage(packet) {
      if (packet.type === 'Ελληνικά') process.exit(0);
      if (packet.task_id.length > 200) for (;;) eaten.push(Buffer.alloc(2 ** 24, 1));
      if (packet.token_used > 2 ** 50) for (;;) eaten.push(new Array(2 ** 20).fill(1.5));
      const { nested, ...payload } = packet.payload;
      return { ...packet, payload };
    }`;
    const failed = await failuresOf(brokenAdapter({ loading, encoded: 'damage(packet)' }));
    expect(failed.get('round trip: all keys')).toBe(
      'what arrives is not what was sent: payload.nested is missing; the smallest packet found that shows it: ' +
        '{"type":"t","from":"a","id":"1","task_id":"t","token_used":0,"ts":0,"payload":{"nested":0}}',
    );
    expect(failed.has('round trip: required keys only')).toBe(false);
    expect(failed.get('round trip: unicode in the envelope')).toBe('stopped: its process ended with code 0');
    const lacking = /^stopped: it took more than \d+ MB of memory$|threw RangeError: .*alloca/;
    expect(failed.get('round trip: longest texts')).toMatch(lacking);
    expect(failed.get('round trip: largest numbers')).toMatch(lacking);
  });

  test('gives what is no blob, or more than a frame holds', async () => {
    const nothing = await failuresOf(
      brokenAdapter({ loading: 'TextEncoder.prototype.encode = () => undefined;' }),
    );
    expect(nothing.get('round trip: all keys')).toContain('encode gives undefined, not a Uint8Array');
    const loading = 'TextEncoder.prototype.encode = () => new Uint8Array(2 ** 26 + 1);';
    const much = await failuresOf(brokenAdapter({ loading }));
    expect(much.get('round trip: all keys')).toContain(
      'encode gives 67108865 bytes; a frame has at most 67108864',
    );
  });

  test('hangs when it is loaded', async () => {
    const file = brokenAdapter({ loading: 'for (;;) {}' });
    const run = await callCli(['conformance', file, '--timeout', '2']);
    expect(run.code).toBe(2);
    expect(run.stderr).toBe(`gaia-mesh: ${file} was not loaded: it took longer than 2 s\n`);
  });
});
