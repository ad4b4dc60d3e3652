import type { ChatMessage, ModelExchange } from '@gaia-mesh/core/contracts/engine.ts';
import { FINAL_ANSWER, type JsonObject, TASK_FAILED } from '@gaia-mesh/core/contracts/packet.ts';
import type { RecordedPacket } from '@gaia-mesh/core/recording/recording.ts';
import { hashSpanId, hashTraceId } from '@gaia-mesh/core/recording/trace-context.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { dataTools } from '@gaia-mesh/tools/data-tools.ts';
import type { ExportedRun } from '../exported-run.ts';
import { WallClock } from './wall-clock.ts';

/** On the resource: true if payloads were left out. */
const CONTENTS_LEFT_OUT = 'gaia_mesh.contents_left_out';

/** Attributes; those without a value are not exported. */
export type Attributes = Readonly<Record<string, string | number | boolean | string[] | null | undefined>>;

/** A span, independent of OpenTelemetry's packages, which are loaded only when something is sent. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'client';
  /** Microseconds since 1970. */
  readonly startUs: number;
  readonly endUs: number;
  readonly attributes: Attributes;
  readonly links?: readonly Link[];
  readonly events?: readonly SpanEvent[];
  /** Reason for a failure. */
  readonly error?: string | undefined;
}

interface Link {
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Attributes;
}

interface SpanEvent {
  readonly name: string;
  readonly atUs: number;
  readonly attributes: Attributes;
}

/** A run in the terms of OpenTelemetry: resource and spans. */
export interface RunTelemetry {
  readonly resource: Attributes;
  readonly spans: readonly Span[];
}

export function runTelemetry(exported: ExportedRun, hasContents: boolean): RunTelemetry {
  const { header } = exported.recording;
  const clock = new WallClock(exported.recording);
  const options = { clock, hasContents };
  const below = [...buildPacketSpans(exported, options), ...buildModelSpans(exported, options)];
  const startUs = below.reduce((least, span) => Math.min(least, span.startUs), Number.POSITIVE_INFINITY);
  const endUs = below.reduce((most, span) => Math.max(most, span.endUs), startUs);
  const { metrics } = exported.run ?? {};
  const run: Span = {
    ...createRunSpan(header.run_id),
    name: `run ${header.team}`,
    kind: 'internal',
    startUs,
    endUs,
    attributes: {
      'gaia_mesh.team': header.team,
      'gaia_mesh.adapter': header.adapter,
      'gaia_mesh.engine': header.engine,
      'gaia_mesh.status': metrics?.status,
      'gaia_mesh.tasks': metrics?.tasks,
      'gaia_mesh.answered': metrics?.answered,
      'gaia_mesh.bytes_tx': metrics?.bytes_tx,
      'gaia_mesh.bytes_rx': metrics?.bytes_rx,
      'gaia_mesh.token_sum': metrics?.token_sum,
    },
    error: metrics === undefined || metrics.status === 'answered' ? undefined : metrics.reason,
  };
  return {
    resource: {
      'service.name': 'gaia-mesh',
      'service.version': packageVersion,
      'service.instance.id': header.run_id,
      [CONTENTS_LEFT_OUT]: hasContents ? undefined : true,
    },
    spans: [run, ...below],
  };
}

/**
 * Returns exchanges with models as spans below the work that they were part of. An exchange without times becomes an empty span
 * at the beginning of the work.
 */
function buildModelSpans(
  { recording, exchanges }: ExportedRun,
  { clock, hasContents }: { readonly clock: WallClock; readonly hasContents: boolean },
): Span[] {
  const { run_id: runId, engine } = recording.header;
  const works = Map.groupBy(
    recording.packets.filter(({ work }) => work !== undefined),
    ({ packet }) => joinWorkKey(packet.from, packet.task_id),
  );
  const roots = new Map(
    recording.packets.filter(({ cause }) => cause === null).map((root) => [root.packet.task_id, root]),
  );
  return exchanges.flatMap((of, index) => {
    const { taskId, agent, role, exchange } = of;
    const above = findWork(works.get(joinWorkKey(agent, taskId)) ?? [], exchange) ?? roots.get(taskId);
    if (above === undefined) return [];
    const { startedUs = above.work?.received_us, endedUs = startedUs } = exchange;
    const startUs = startedUs === undefined ? clock.work(above).startUs : clock.at(startedUs);
    return {
      traceId: hashTraceId(runId, taskId),
      spanId: hashSpanId('other', runId, 'model', agent, String(index)),
      parentSpanId: hashSpanId('packet', runId, above.packet.id),
      name: `chat ${exchange.model}`,
      kind: 'client' as const,
      startUs,
      endUs: endedUs === undefined ? startUs : clock.at(endedUs),
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': engine,
        'gen_ai.conversation.id': taskId,
        'gen_ai.request.model': exchange.model,
        'gen_ai.agent.name': agent,
        'gen_ai.response.finish_reasons': [exchange.reply.finish],
        'gaia_mesh.role': role,
        'gen_ai.usage.input_tokens': exchange.promptTokens,
        'gen_ai.usage.output_tokens': exchange.completionTokens,
        ...(hasContents && buildContents(exchange)),
      },
    };
  });
}

/** Returns prompt and reply in the form of the conventions. */
function buildContents({ messages, tools, reply }: ModelExchange): Attributes {
  const text = (content: string) => ({ type: 'text', content });
  const calls = reply.toolCalls.map((call) => ({ type: 'tool_call', ...call }));
  const system = messages.filter(({ role }) => role === 'system');
  const parts = [
    ...(reply.reasoning === undefined ? [] : [{ type: 'reasoning', content: reply.reasoning }]),
    ...(reply.content === '' ? [] : [text(reply.content)]),
    ...calls,
  ];
  const others = messages.filter(({ role }) => role !== 'system').map(toConventionMessage);
  return {
    'gen_ai.system_instructions':
      system.length === 0 ? undefined : JSON.stringify(system.map(({ content }) => text(content))),
    'gen_ai.input.messages': JSON.stringify(others),
    'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts, finish_reason: reply.finish }]),
    'gen_ai.tool.definitions':
      tools.length === 0 ? undefined : JSON.stringify(tools.map((tool) => ({ type: 'function', ...tool }))),
  };
}

function toConventionMessage(message: ChatMessage) {
  const { role, content } = message;
  if (message.role === 'tool')
    return { role, parts: [{ type: 'tool_call_response', id: message.toolCallId, response: content }] };
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return {
    role,
    parts: [
      ...(content === '' ? [] : [{ type: 'text', content }]),
      ...calls.map((call) => ({ type: 'tool_call', ...call })),
    ],
  };
}

function joinWorkKey(agent: string, taskId: string): string {
  return JSON.stringify([agent, taskId]);
}

/** Finds the work that contains an exchange; if one work sent several packets, the first of them. */
function findWork(
  works: readonly RecordedPacket[],
  { startedUs, endedUs }: ModelExchange,
): RecordedPacket | undefined {
  if (startedUs === undefined || endedUs === undefined) return works[0];
  return works.find(
    ({ work }) => work !== undefined && work.received_us <= startedUs && endedUs <= work.sent_us,
  );
}

/**
 * Returns a run's packets as spans. The packet that opens a task becomes the task's span; every other packet becomes the span of
 * the work that produced it, below the task and linked to the packet that caused it. A task thus reads as a list in order of
 * time, however long its chain.
 */
function buildPacketSpans(
  exported: ExportedRun,
  {
    clock,
    hasContents,
  }: {
    readonly clock: WallClock;
    /** Includes payloads, prompts and answers. */
    readonly hasContents: boolean;
  },
): Span[] {
  const { header, packets } = exported.recording;
  const runId = header.run_id;
  const tools = new Map(header.agents.map(({ id, tool }) => [id, tool]));
  const byId = new Map(packets.map((recorded) => [recorded.packet.id, recorded]));
  const roots = new Map<string, string>();
  for (const { cause, packet } of packets)
    if (cause === null && !roots.has(packet.task_id)) roots.set(packet.task_id, packet.id);
  const ends = mapTaskEnds(packets, clock);
  return packets.map((recorded): Span => {
    const { packet, cause } = recorded;
    const traceId = hashTraceId(runId, packet.task_id);
    const root = roots.get(packet.task_id);
    const isTask = root === packet.id;
    const tool = tools.get(packet.from) ?? 'unknown';
    const work = isTask ? describeTask(exported, packet.task_id) : describeAgentWork(recorded, tool);
    const { operation } = work;
    const contents = hasContents
      ? { ...buildContentAttributes(operation, packet.payload), ...buildArguments(operation, recorded, byId) }
      : {};
    const caused = cause === null ? undefined : byId.get(cause)?.packet;
    return {
      traceId,
      spanId: hashSpanId('packet', runId, packet.id),
      parentSpanId: isTask || root === undefined ? undefined : hashSpanId('packet', runId, root),
      name: work.name,
      kind: work.isRemote ? 'client' : 'internal',
      ...(isTask
        ? { startUs: clock.arrival(recorded), endUs: ends.get(packet.task_id) ?? clock.arrival(recorded) }
        : clock.work(recorded)),
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.conversation.id': packet.task_id,
        ...work.attributes,
        ...buildPacketAttributes(recorded),
        ...contents,
      },
      links: [
        ...(isTask ? [{ ...createRunSpan(runId), attributes: { 'gaia_mesh.link': 'run' } }] : []),
        ...(caused === undefined
          ? []
          : [
              {
                traceId: hashTraceId(runId, caused.task_id),
                spanId: hashSpanId('packet', runId, caused.id),
                attributes: { 'gaia_mesh.link': 'cause' },
              },
            ]),
      ],
      events: isTask ? listEvaluations(exported, packet.task_id, ends) : [],
      error: isTask ? findTaskError(exported, packet.task_id) : findPacketError(recorded),
    };
  });
}

/**
 * Returns the ids of the run's span, which has a trace of its own. Tasks link to it, since viewers cannot open a trace of a
 * thousand tasks.
 */
function createRunSpan(runId: string): Pick<Span, 'traceId' | 'spanId'> {
  return { traceId: hashTraceId(runId, ''), spanId: hashSpanId('other', runId, 'run') };
}

/** Operation of a span in the conventions, which determines where its payload is stored. */
type Operation = 'invoke_workflow' | 'invoke_agent' | 'execute_tool';

/** Returns all facts of a recorded packet except its payload. */
function buildPacketAttributes({ cause, inferred, tool_us, relayed, work, packet }: RecordedPacket) {
  const { payload: _payload, ...head } = packet;
  const envelope = Object.entries(head).map(([key, value]) => [`gaia_mesh.packet.${key}`, value]);
  return {
    ...Object.fromEntries(envelope),
    'gaia_mesh.cause': cause,
    'gaia_mesh.cause.inferred': inferred,
    'gaia_mesh.tool_us': tool_us,
    'gaia_mesh.relayed.bytes': relayed?.bytes,
    'gaia_mesh.relayed.arrived_us': relayed && Math.round(relayed.arrived_us),
    'gaia_mesh.relayed.forwarded_us': relayed && Math.round(relayed.forwarded_us),
    'gaia_mesh.work.received_us': work?.received_us,
    'gaia_mesh.work.sent_us': work?.sent_us,
    'gaia_mesh.work.decode_us': work?.decode_us,
    'gaia_mesh.work.engine_us': work?.engine_us,
    'gaia_mesh.work.encode_us': work?.encode_us,
  };
}

/** Returns the payload of a packet in the attribute that the conventions provide, so that other tools show it. */
function buildContentAttributes(operation: Operation, payload: JsonObject): Attributes {
  const text = JSON.stringify(payload);
  const parts = [{ type: 'text', content: text }];
  switch (operation) {
    case 'invoke_workflow':
      return { 'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts }]) };
    case 'invoke_agent':
      return {
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts, finish_reason: 'stop' }]),
      };
    case 'execute_tool':
      return { 'gen_ai.tool.call.result': text };
  }
}

interface Work {
  readonly operation: Operation;
  readonly name: string;
  readonly attributes: Attributes;
  /** True if an agent outside the run does the work. */
  readonly isRemote: boolean;
}

function describeTask({ recording, run }: ExportedRun, taskId: string): Work {
  const { team } = recording.header;
  const ending = run?.endings.get(taskId);
  return {
    operation: 'invoke_workflow',
    name: `invoke_workflow ${team}`,
    attributes: {
      'gen_ai.workflow.name': team,
      'gen_ai.agent.name': team,
      'gaia_mesh.task.status': ending?.status,
      'gaia_mesh.task.elapsed_ms': ending?.elapsed_ms,
    },
    isRemote: false,
  };
}

function describeAgentWork({ packet }: RecordedPacket, tool: string): Work {
  const agent = { 'gen_ai.agent.name': packet.from };
  if (tool === 'a2a' || (tool !== 'mcp' && !Object.hasOwn(dataTools, tool)))
    return {
      operation: 'invoke_agent',
      name: `invoke_agent ${packet.from}`,
      attributes: { ...agent, 'gaia_mesh.tool': tool === 'a2a' ? undefined : tool },
      isRemote: tool === 'a2a',
    };
  return {
    operation: 'execute_tool',
    name: tool === 'mcp' ? `tools/call ${packet.from}` : `execute_tool ${tool}`,
    attributes: {
      ...agent,
      'gen_ai.tool.name': tool === 'mcp' ? packet.from : tool,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': packet.reply_to,
      'mcp.method.name': tool === 'mcp' ? 'tools/call' : undefined,
    },
    isRemote: tool === 'mcp',
  };
}

/** Returns the arguments of a tool call. */
function buildArguments(
  operation: Operation,
  { packet }: RecordedPacket,
  byId: ReadonlyMap<string, RecordedPacket>,
): Attributes {
  const asked = operation === 'execute_tool' ? byId.get(packet.reply_to ?? '') : undefined;
  if (asked === undefined) return {};
  return { 'gen_ai.tool.call.arguments': JSON.stringify(asked.packet.payload) };
}

/** Returns the end of each task: the time of its final packet, or else of its last packet. */
function mapTaskEnds(packets: readonly RecordedPacket[], clock: WallClock): Map<string, number> {
  const ends = new Map<string, number>();
  const ended = new Set<string>();
  for (const recorded of packets) {
    const { task_id, tag } = recorded.packet;
    if (ended.has(task_id)) continue;
    ends.set(task_id, Math.max(ends.get(task_id) ?? 0, clock.arrival(recorded)));
    if (tag === FINAL_ANSWER || tag === TASK_FAILED) ended.add(task_id);
  }
  return ends;
}

/** Returns the scores of a task in the conventions' format for evaluation results. */
function listEvaluations({ run }: ExportedRun, taskId: string, ends: ReadonlyMap<string, number>) {
  const scores =
    run?.results.find(({ task_id }) => task_id === taskId) ??
    (run?.metrics.tasks === 1 ? run.metrics : undefined);
  const values = { quality_score: scores?.quality_score, normalized_em: scores?.normalized_em };
  return Object.entries(values).flatMap(([name, value]) =>
    typeof value !== 'number'
      ? []
      : [
          {
            name: 'gen_ai.evaluation.result',
            atUs: ends.get(taskId) ?? 0,
            attributes: { 'gen_ai.evaluation.name': name, 'gen_ai.evaluation.score.value': value },
          },
        ],
  );
}

function findTaskError({ run }: ExportedRun, taskId: string): string | undefined {
  const ending = run?.endings.get(taskId);
  if (ending === undefined || ending.status === 'answered') return undefined;
  return ending.reason ?? ending.status;
}

function findPacketError({ packet }: RecordedPacket): string | undefined {
  return packet.tag === TASK_FAILED ? TASK_FAILED : undefined;
}
