import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import { askWork, buildTeamCard } from '@gaia-mesh/evaluation/serve/ask-work.ts';
import { offerTeam } from '@gaia-mesh/evaluation/serve/serve-team.ts';
import { A2aAgent } from '@gaia-mesh/stacks/a2a/agent/agent.ts';
import { encodeAnswer } from '@gaia-mesh/stacks/a2a/agent/task.ts';
import { ForeignAgent } from '@gaia-mesh/stacks/a2a/foreign/foreign-agent.ts';
import { readRequest } from '@gaia-mesh/stacks/json-rpc.ts';
import fc from 'fast-check';
import { applyDamages, damages } from './testing/damage.ts';
import { Defect, fuzz, tryReading } from './testing/fuzz.ts';

/** The doors at which bytes of other programs come in: requests to `serve`, and cards of foreign agents. */

const MAX_KEPT_BYTES = 1024 * 1024;

const served = {
  name: 'echo',
  ask: async ({ question }: { readonly question: string }) => ({
    answer: question,
    status: 'answered' as const,
    task_id: 'ask-1',
    elapsed_ms: 1,
    packets: 2,
    bytes: 3,
    tokens: null,
    model_calls: 0,
    cost_usd: null,
  }),
};

/** Damages samples at a door. */
function tryDoor(
  name: string,
  samples: readonly (Uint8Array | string)[],
  prepare: () => Promise<(bytes: Buffer) => Promise<unknown>>,
): void {
  const good = samples.map((sample) => Buffer.from(sample));
  const sampleAt = (index: number) => good[index % good.length] ?? Buffer.alloc(0);
  const cases = fc.record({ sample: fc.nat(100), other: fc.nat(100), list: damages });
  fuzz(`door:${name}`, cases, async () => {
    const read = await prepare();
    return async ({ sample, other, list }) => {
      const bytes = applyDamages(sampleAt(sample), sampleAt(other), list);
      await tryReading(`door:${name}`, bytes, () => read(bytes));
    };
  });
}

const parts = [
  { text: 'né ✅' },
  { data: { question: 'Q', document: 'D' }, metadata: { a: [1, { b: null }] } },
];
const message = { messageId: 'm', role: 'ROLE_USER', parts, metadata: { n: 1.5, deep: [[[{}]]] } };
const taskPushNotificationConfig = { id: 'w', url: 'http://127.0.0.1:9/x', token: 't' };
const PARAMS: readonly (readonly [method: string, params: object])[] = [
  ['SendMessage', { message, configuration: { historyLength: 1, taskPushNotificationConfig } }],
  ['SendMessage', { message: { ...message, contextId: 'c', referenceTaskIds: ['r'] } }],
  ['ListTasks', { pageSize: 5, status: 'TASK_STATE_COMPLETED', includeArtifacts: true }],
  ['GetTask', { id: 't', historyLength: 3 }],
  ['CreateTaskPushNotificationConfig', { ...taskPushNotificationConfig, taskId: 't' }],
];

/** An agent whose list must stay readable for all, whatever one client has sent. */
class ListedAgent {
  readonly agent: A2aAgent;
  readonly #kept = new KeptBytes(MAX_KEPT_BYTES);

  constructor() {
    const card = buildTeamCard('echo', 'A team', '1', true);
    this.agent = new A2aAgent(card, askWork(served), {
      maxTasks: 20,
      kept: this.#kept,
    });
  }

  /** Makes a call, which may be refused, and reads the list as every client may. */
  async call(method: string, params: unknown): Promise<void> {
    let refusal: unknown;
    await this.agent.call(method, params).catch((error: unknown) => {
      refusal = error;
    });
    const listed = await this.agent.call('ListTasks', { includeArtifacts: true });
    encodeAnswer(listed, (answer) => JSON.stringify(answer));
    if (this.#kept.kept > MAX_KEPT_BYTES) throw new Defect(`${this.#kept.kept} bytes are kept`);
    if (refusal !== undefined) throw refusal;
  }
}

tryDoor(
  'json-rpc',
  PARAMS.map(([method, params]) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
  async () => {
    const listed = new ListedAgent();
    return async (bytes) => {
      const { method, params } = readRequest(bytes.toString(), listed.agent.kept?.mostEach);
      await listed.call(method, params);
    };
  },
);

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  progressToken: 1,
};
const call = { name: 'ask', arguments: { question: 'Q', document: 'D' } };

tryDoor(
  'mcp',
  [
    { method: 'tools/call', params: { ...call, _meta } },
    { method: 'tools/call', params: call },
    { method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
    { method: 'tools/list', params: { cursor: 'c' } },
  ].map((request) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...request })),
  async () => {
    const plan = {
      description: 'A team',
      mcp: 'http',
      a2a: false,
      limits: { tasks: 1, waiting: 1, bytes: 1_000 },
    } as const;
    const { mcp: server } = offerTeam(served, plan, false);
    const { signal } = new AbortController();
    const { agent } = new ListedAgent();
    return async (bytes) =>
      JSON.stringify(
        await server?.handle(
          readRequest(bytes.toString(), agent.kept?.mostEach),
          async () => undefined,
          signal,
        ),
      );
  },
);

tryDoor(
  'card',
  [
    {
      ...buildTeamCard('echo', 'A team', '1', true),
      supportedInterfaces: [
        { url: 'http://127.0.0.1:1/a2a/jsonrpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: 'http://127.0.0.1:1//127.0.0.2:2/x', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      ],
    },
    { name: 'old', url: 'http://127.0.0.1:1/', protocolVersion: '0.3.0', preferredTransport: 'JSONRPC' },
  ].map((one) => JSON.stringify(one)),
  async () => {
    let shown = Buffer.alloc(0);
    const server = createServer((_request, response) => response.end(shown))
      .listen(0, '127.0.0.1')
      .unref();
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    return async (bytes) => {
      shown = Buffer.from(
        bytes.toString('latin1').replaceAll(/127\.0\.0\.1:1\b/g, `127.0.0.1:${port}`),
        'latin1',
      );
      const endpoint = { url: `http://127.0.0.1:${port}`, maxMessageBytes: 1024 * 1024 };
      const agent = await ForeignAgent.connect(endpoint, AbortSignal.timeout(5_000));
      await agent.close();
    };
  },
);
