import { X509Certificate } from 'node:crypto';
import { readdirSync } from 'node:fs';
import tls from 'node:tls';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../core/testing/temporary-folder.ts';
import { selfSigned, trusting } from '../../../protocols/bindings/tls/self-signed.ts';
import { adapterNamed } from '../../../protocols/registry.ts';
import { sampleRecording } from '../testing/sample-recording.ts';
import { type HttpCosts, measureHttp } from './measure-http.ts';

const certificate = await selfSigned();
if (certificate === null) {
  if (process.env.CI === 'true') throw new Error('there is no openssl command');
  console.warn('skipped: what needs a certificate, as there is no openssl command');
}

async function measured(names: readonly string[]): Promise<HttpCosts> {
  const adapters = await Promise.all(names.map((name) => adapterNamed(name)));
  return measureHttp(sampleRecording, adapters, new AbortController().signal);
}

describe('packets over HTTP', () => {
  let costs: HttpCosts;
  beforeAll(async () => {
    costs = await measured(['json', 'anp', 'a2a', 'a2a-proto', 'mcp', 'mcp+zstd']);
  });

  test('are measured for the protocols that ride on it, in the order of the comparison', () => {
    expect(costs.packets).toBe(4);
    expect(costs.rows.map(({ adapter }) => adapter)).toEqual(['anp', 'a2a', 'mcp']);
    expect(costs.unavailable).toEqual([{ adapter: 'a2a-proto', why: expect.stringContaining('gRPC') }]);
  });

  test('have the blob of the mesh as body where there is no SDK', async () => {
    const { openMembers } = await import('../../../core/wire/members.ts');
    const codecs = openMembers(await adapterNamed('mcp'), 'r', ['0', '1']);
    const blobs = sampleRecording.packets.map(
      ({ packet }) => codecs.get(packet.from)?.encode(packet).length ?? 0,
    );
    const mcp = costs.rows.find(({ adapter }) => adapter === 'mcp');
    expect(mcp?.body.up).toBe(blobs.reduce((sum, bytes) => sum + bytes));
  });

  test('have heads of some hundred bytes', () => {
    for (const { head } of costs.rows) {
      for (const bytes of [head.up, head.down]) {
        expect(bytes).toBeGreaterThan(4 * 100);
        expect(bytes).toBeLessThan(4 * 1000);
      }
    }
  });

  test.skipIf(certificate === null)('get 22 bytes a record by TLS, and a handshake once', () => {
    // Four requests and four answers; the document has more than the 16 KiB of a record.
    for (const { records } of costs.rows) {
      expect(records).toBeGreaterThanOrEqual(22 * 9);
      expect((records ?? 0) % 22).toBe(0);
    }
    expect(costs.tls?.handshake.up).toBeGreaterThan(300);
    expect(costs.tls?.handshake.down).toBeGreaterThan(costs.tls?.certificate ?? 0);
  });

  test('are none for other adapters', async () => {
    expect(await measured(['json', 'msgpack'])).toEqual({ packets: 4, rows: [], unavailable: [], tls: null });
  });

  test('end when the command is interrupted', async () => {
    const reason = new Error('interrupted');
    const mcp = await adapterNamed('mcp');
    await expect(measureHttp(sampleRecording, [mcp], AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe.skipIf(certificate === null)('a certificate', () => {
  test('is made for 127.0.0.1, and its key does not stay on disk', async () => {
    const folder = temporaryFolder();
    vi.stubEnv('TMPDIR', folder);
    const made = await selfSigned();
    vi.unstubAllEnvs();
    expect(new X509Certificate(made?.cert ?? '').checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is trusted no longer than the work takes', async () => {
    if (certificate === null) throw new Error('there is none');
    const before = tls.getCACertificates('default');
    const during = await trusting(certificate, async () => tls.getCACertificates('default'));
    expect(during).toHaveLength(before.length + 1);
    await expect(trusting(certificate, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(tls.getCACertificates('default')).toEqual(before);
  });
});
