import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { NatsServerProcess } from '../../core/nats/nats-server-process.ts';
import { readArchivedRecording } from '../../core/recording/read-archive.ts';
import { openTransport, tcpTransport } from '../../core/run/run-transport.ts';
import { scenariosOf } from '../compare/scenario.ts';
import { docsPage, shownRevision } from '../docs-page.ts';
import { interruptible } from '../interruptible.ts';
import { machine } from '../perf/results-page.ts';
import { figuresTable, withMeasured } from '../transports/figures-table.ts';
import { measureTransports, type TransportFigures } from '../transports/measure.ts';

export interface TransportsOptions {
  readonly recording?: string;
  readonly natsUrl?: string;
  readonly rounds: number;
  readonly seed: number;
  readonly json?: boolean;
  readonly write?: boolean;
}

/** What a NATS server costs, against TCP: the same recorded run and the same frames over both, in interleaved rounds. */
export async function transports(options: TransportsOptions): Promise<void> {
  const page = options.write ? docsPage('nats.md') : undefined;
  const { signal } = interruptible('the measurement');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-transports-'));
  const server = options.natsUrl === undefined ? await NatsServerProcess.start() : undefined;
  try {
    const { recording } = options;
    const [scenario] = await scenariosOf(recording === undefined ? {} : { recording }, folder);
    signal.throwIfAborted();
    if (scenario === undefined) throw new Error('there was nothing to replay');
    const figures = await measured(scenario.archive, options, server?.url, folder, signal);
    if (options.json) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
    else console.log(figuresTable(figures));
    if (page === undefined) return;
    const date = new Date().toISOString().slice(0, 10);
    const measuredOn = `Measured on ${date} at revision ${await shownRevision()} on one machine: ${machine()}.`;
    const text = `${figuresTable(figures)}\n\n${measuredOn}`;
    writeFileSync(page, withMeasured(readFileSync(page, 'utf8'), text));
    console.error(`written: ${page}`);
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measured(
  archive: string,
  { natsUrl, rounds, seed }: TransportsOptions,
  ownUrl: string | undefined,
  folder: string,
  signal: AbortSignal,
): Promise<TransportFigures> {
  const nats = await openTransport({
    team: {
      transport: 'nats',
      nats_url: natsUrl ?? ownUrl,
      nats_subject: undefined,
      delivery: 'at-most-once',
    },
    runId: path.basename(folder),
    external: new Set(),
    environment: process.env,
  });
  try {
    return await measureTransports({
      recording: await readArchivedRecording(archive),
      transports: { tcp: tcpTransport, nats },
      rounds,
      seed,
      workspaces: folder,
      signal,
    });
  } finally {
    await nats.close();
  }
}
