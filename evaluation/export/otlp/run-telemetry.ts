import type { ChatMessage, ModelExchange } from '@gaia-mesh/core/contracts/engine.ts';
import type { RecordedPacket } from '@gaia-mesh/core/recording/recording.ts';
import { hashOtherSpanId, hashSpanId, hashTraceId } from '@gaia-mesh/core/recording/trace-context.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import type { ExportedRun } from '../exported-run.ts';
import { buildPacketSpans, createRunSpan } from './packet-spans.ts';
import { type Attributes, omitAbsent, type Span } from './span.ts';
import { WallClock } from './wall-clock.ts';

/** On the resource: true if payloads were left out. */
const CONTENTS_LEFT_OUT = 'gaia_mesh.contents_left_out';

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
    attributes: omitAbsent({
      'gaia_mesh.team': header.team,
      'gaia_mesh.adapter': header.adapter,
      'gaia_mesh.engine': header.engine,
      'gaia_mesh.status': metrics?.status,
      'gaia_mesh.tasks': metrics?.tasks,
      'gaia_mesh.answered': metrics?.answered,
      'gaia_mesh.bytes_tx': metrics?.bytes_tx,
      'gaia_mesh.bytes_rx': metrics?.bytes_rx,
      'gaia_mesh.token_sum': metrics?.token_sum,
    }),
    error: metrics === undefined || metrics.status === 'answered' ? undefined : metrics.reason,
  };
  return {
    resource: omitAbsent({
      'service.name': 'gaia-mesh',
      'service.version': packageVersion,
      'service.instance.id': header.run_id,
      [CONTENTS_LEFT_OUT]: hasContents ? undefined : true,
    }),
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
    const { startedUs = above.work?.receivedAt, endedUs = startedUs } = exchange;
    const startUs = startedUs === undefined ? clock.work(above).startUs : clock.at(startedUs);
    return {
      traceId: hashTraceId(runId, taskId),
      spanId: hashOtherSpanId(runId, 'model', agent, String(index)),
      parentSpanId: hashSpanId(runId, above.packet.id),
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
        ...buildUsage(exchange),
        ...(hasContents && buildContents(exchange)),
      },
    };
  });
}

function buildUsage({ promptTokens, completionTokens }: ModelExchange): Attributes {
  return omitAbsent({
    'gen_ai.usage.input_tokens': promptTokens,
    'gen_ai.usage.output_tokens': completionTokens,
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
  return omitAbsent({
    'gen_ai.system_instructions':
      system.length === 0 ? undefined : JSON.stringify(system.map(({ content }) => text(content))),
    'gen_ai.input.messages': JSON.stringify(others),
    'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts, finish_reason: reply.finish }]),
    'gen_ai.tool.definitions':
      tools.length === 0 ? undefined : JSON.stringify(tools.map((tool) => ({ type: 'function', ...tool }))),
  });
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
    ({ work }) => work !== undefined && work.receivedAt <= startedUs && endedUs <= work.sentAt,
  );
}
