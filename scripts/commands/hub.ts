import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { FINAL_ANSWER, HUB_ID } from '@gaia-mesh/core/contracts/packet.ts';
import type { Link, MeshNode } from '@gaia-mesh/core/hub/link.ts';
import { MeshNetwork } from '@gaia-mesh/core/hub/mesh-network.ts';
import type { MeshObserver } from '@gaia-mesh/core/hub/mesh-observer.ts';
import { createRouter, ROUTINGS, type Routing } from '@gaia-mesh/core/hub/routing.ts';
import { RunRecord } from '@gaia-mesh/core/recording/run-record.ts';
import { onAbort } from '@gaia-mesh/core/system/process/abort.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { ANY } from '@gaia-mesh/core/wire/handshake.ts';
import { readRunSecret } from '@gaia-mesh/core/wire/run-secret.ts';
import {
  choice,
  commaList,
  defineTable,
  option,
  output,
  seconds,
  text,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { loadUserSpec } from '@gaia-mesh/evaluation/teams/user-options.ts';
import { print, printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { defineOptions } from '../command-line/options.ts';

/** Maximum delay of a timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const hubTable = defineTable({
  options: z.object({
    ports: option('<numbers>', 'connect to agents on these ports, e.g. 9000,9001,9002', commaList),
    adapter: option('<spec>', 'encode packets with this protocol', text.default('json')),
    routing: option('<name>', 'route packets by broadcast or direct', choice(ROUTINGS).default('broadcast')),
    handshake: option(
      '<on|off>',
      'skip the handshake with off, for foreign agents',
      choice(['on', 'off']).default('on'),
    ),
    wait: option('<seconds>', 'wait this long for agents to listen', seconds.default(10)),
    record: option('<file>', 'write a recording for compare --recording', output.file.optional()),
    stallTimeout: option(
      '<seconds>',
      'disconnect agents that accept no bytes for this long',
      seconds.optional(),
    ),
  }),
});

export function defineHub(command: Command): void {
  defineOptions(command, hubTable, run);
}

/**
 * Runs the hub alone, for agents that were started elsewhere: connects to them, prints `ready` in one line, relays
 * until a signal ends it, and then prints one JSON line with what it carried.
 */
async function run(options: z.output<typeof hubTable.options>): Promise<void> {
  const nodes = options.ports.map(parseNode);
  if (nodes.length < 2) throw new MeshError('usage', '--ports: expected at least two, e.g. 9000,9001');
  const twice = nodes.find(({ port }, at) => nodes.findIndex((other) => other.port === port) < at);
  if (twice !== undefined) throw new MeshError('usage', `--ports: ${twice.port} is listed twice`);
  const { routing } = options;
  const skipsHandshake = options.handshake === 'off';
  const adapter = await loadUserSpec(options.adapter);
  if (skipsHandshake && adapter.join !== undefined) {
    throw new MeshError('usage', `--handshake off: ${adapter.name} exchanges keys in the handshake`);
  }
  const recorder =
    options.record === undefined ? undefined : new HubRecorder(resolveUserPath(options.record));
  const { signal } = handleInterrupt('the hub');
  const network = await MeshNetwork.connect({
    runId: `hub-${randomBytes(6).toString('hex')}`,
    adapter,
    secret: readRunSecret(process.env),
    nodes,
    final: null,
    router: createRouter(routing),
    observer: { ...observer, ...recorder?.observer },
    maxFrameBytes: MAX_FRAME_BYTES,
    patienceMs: options.wait * 1000,
    skipsHandshake,
    signal,
    stallTimeoutMs: options.stallTimeout === undefined ? undefined : options.stallTimeout * 1000,
  });
  print(`ready: ${network.links.length} agents, ${adapter.name}, ${routing}`);
  // The timer keeps the process alive after the last agent has left, so that it can print its counts.
  const awake = setInterval(() => undefined, LONGEST_TIMER_MS);
  await new Promise<void>((resolve) => onAbort(signal, resolve));
  clearInterval(awake);
  const counts = toLinkCounts(network.links);
  network.close();
  await recorder?.write(network.links, adapter, routing);
  print(JSON.stringify(counts));
}

/** Records packets that a hub relays between agents that start on their own. */
class HubRecorder {
  readonly observer: Pick<MeshObserver, 'relayed'> = { relayed: (batch) => this.#record.relayed(batch) };
  readonly #file: string;
  readonly #record: RunRecord;

  constructor(file: string) {
    this.#file = file;
    this.#record = new RunRecord(`${file}.frames`);
  }

  async write(links: readonly Link[], adapter: ProtocolAdapter, routing: Routing): Promise<void> {
    await this.#record.close();
    const known = new Map(
      links.flatMap(({ node }) => (node.isForeign === true ? [] : [[node.id, node.tool]])),
    );
    const { traces, missing } = await this.#record.write(this.#file, {
      header: (packets) => {
        const ids = new Set([...known.keys(), ...packets.map(({ packet }) => packet.from)]);
        ids.delete(HUB_ID);
        const [first = ANY] = ids;
        return {
          run_id: path.basename(this.#file),
          team: 'hub',
          final: packets.findLast(({ packet }) => packet.tag === FINAL_ANSWER)?.packet.from ?? first,
          routing,
          adapter: adapter.name,
          engine: 'unknown',
          agents: [...ids].map((id) => ({ id, tool: known.get(id) ?? 'unknown' })),
        };
      },
      payloadOf: () => undefined,
      opensTasks: true,
      work: new Map(),
    });
    await this.#record.remove();
    const packets = traces.filter(({ cause }) => cause !== null).length;
    printError(`recorded ${packets} packets in ${this.#file}`);
    for (const what of missing) printError(`not recorded: ${what}`);
  }
}

const observer: Partial<MeshObserver> = {
  refused: (node, reason, bytes) => printError(`refused from ${node}: ${reason} (${bytes} B)`),
  agentLost: (node, reason) => printError(`agent ${node.id} on port ${node.port} is gone: ${reason}`),
};

function parseNode(text: string): MeshNode {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new MeshError('usage', `--ports: expected ports from 1 to 65535, not ${JSON.stringify(text)}`);
  }
  return { id: ANY, tool: ANY, port, secret: readRunSecret(process.env) };
}

/** Sums the counts of all links. Bytes are whole frames of packets; handshakes are not included. */
function toLinkCounts(links: readonly Link[]) {
  const sum = (key: keyof Link['counts']) => links.reduce((total, { counts }) => total + counts[key], 0);
  return {
    packets: sum('packetsRx'),
    tokens: sum('tokens'),
    bytes_rx: sum('bytesRx'),
    bytes_tx: sum('bytesTx'),
    deliveries: sum('packetsTx'),
    refused_packets: sum('refusedPackets'),
    refused_bytes: sum('refusedBytes'),
    session_bytes: sum('sessionRx') + sum('sessionTx'),
    agents: links.map(({ node, alive, counts }) => ({
      id: node.id,
      port: node.port,
      status: alive ? 'up' : 'lost',
      packets_rx: counts.packetsRx,
      packets_tx: counts.packetsTx,
      bytes_rx: counts.bytesRx,
      bytes_tx: counts.bytesTx,
    })),
  };
}
