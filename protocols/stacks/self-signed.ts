import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { TlsIdentity } from './contract/stack.ts';

/** Maximum time for `openssl`; making a key on P-256 takes milliseconds. */
const OPENSSL_TIMEOUT_MS = 10_000;

/**
 * Creates a certificate for 127.0.0.1 with its key, valid for a day, by the `openssl` command, since Node
 * cannot make one. Both are on disk, readable by the user alone, until this returns. Returns null if the
 * command is missing or does not know the options.
 */
export async function createSelfSigned(): Promise<TlsIdentity | null> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'gaia-mesh-tls-'));
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const args = [
    ...['req', '-x509', '-days', '1', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'],
    ...[
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      keyFile,
      '-out',
      certFile,
    ],
  ];
  try {
    await promisify(execFile)('openssl', args, { timeout: OPENSSL_TIMEOUT_MS });
    return { cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') };
  } catch {
    return null; // Not installed, or too old: then TLS is not measured, and the page says so.
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
