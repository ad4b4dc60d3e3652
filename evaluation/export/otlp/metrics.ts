import { Timeline } from '@gaia-mesh/core/recording/timeline.ts';
import type { ExportedRun } from '../exported-run.ts';
import { buildPacketSpans } from './packet-spans.ts';
import type { Attributes } from './span.ts';
import type { WallClock } from './wall-clock.ts';

/** A metric, independent of OpenTelemetry's packages. */
export interface Metric {
  readonly name: string;
  readonly about: string;
  readonly unit: string;
  /** Upper bounds of a histogram's buckets; null for a sum. */
  readonly bounds: readonly number[] | null;
  readonly points: readonly { readonly attributes: Attributes; readonly values: readonly number[] }[];
}

/** The bounds that the GenAI conventions advise. */
const TOKEN_BOUNDS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const SECOND_BOUNDS = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);
/** Bounds for the embedded engine and the hub, whose work takes microseconds. */
const SHORT_BOUNDS = [1e-5, 1e-4, 1e-3, ...SECOND_BOUNDS];
const BYTE_BOUNDS = Array.from({ length: 12 }, (_, power) => 64 * 4 ** power);

/** Returns bytes, tokens and times of a run. Names with `gen_ai` are those of the conventions. */
export function buildRunMetrics(exported: ExportedRun, clock: WallClock): Metric[] {
  const { recording, exchanges } = exported;
  const model = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': recording.header.engine };
  const tokens = exchanges.flatMap(({ exchange }) => {
    const of = (type: string, count: number | null) =>
      count === null
        ? []
        : [
            createPoint(
              { ...model, 'gen_ai.request.model': exchange.model, 'gen_ai.token.type': type },
              count,
            ),
          ];
    return [...of('input', exchange.promptTokens), ...of('output', exchange.completionTokens)];
  });
  const calls = exchanges.flatMap(({ exchange: { startedUs, endedUs, model: name } }) =>
    startedUs === undefined || endedUs === undefined
      ? []
      : [createPoint({ ...model, 'gen_ai.request.model': name }, toSeconds(endedUs - startedUs))],
  );
  const spans = buildPacketSpans(exported, { clock, hasContents: false });
  const durationsOf = (operations: readonly string[], names: readonly string[]) =>
    spans
      .filter(({ attributes }) => operations.includes(String(attributes['gen_ai.operation.name'])))
      .map(({ attributes, startUs, endUs }) =>
        createPoint(
          pickAttributes(attributes, ['gen_ai.operation.name', ...names]),
          toSeconds(endUs - startUs),
        ),
      );
  const relayed = recording.packets.flatMap(({ relayed: at, packet }) =>
    at === undefined ? [] : [{ ...at, type: packet.type }],
  );
  const hops = [...new Timeline(recording.packets).pieces()].map(({ trace, us }) =>
    createPoint({ 'gaia_mesh.packet.type': trace.packet.type }, toSeconds(us)),
  );
  const histogram = (name: string, about: string, unit: string, bounds: readonly number[], of: Point[]) =>
    createMetric({ name, about, unit, bounds }, of);
  return [
    histogram(
      'gen_ai.client.token.usage',
      'Tokens of exchanges with models.',
      '{token}',
      TOKEN_BOUNDS,
      tokens,
    ),
    histogram(
      'gen_ai.client.operation.duration',
      'Time of exchanges with models.',
      's',
      SECOND_BOUNDS,
      calls,
    ),
    histogram(
      'gen_ai.invoke_agent.duration',
      'Time of tasks, and of the work that packets came of.',
      's',
      SHORT_BOUNDS,
      durationsOf(['invoke_workflow', 'invoke_agent'], ['gen_ai.agent.name']),
    ),
    histogram(
      'gen_ai.execute_tool.duration',
      'Time of tools that agents asked.',
      's',
      SHORT_BOUNDS,
      durationsOf(['execute_tool'], ['gen_ai.tool.name']),
    ),
    histogram(
      'gaia_mesh.hop.duration',
      "From a packet's cause at the hub to the packet.",
      's',
      SHORT_BOUNDS,
      hops,
    ),
    histogram(
      'gaia_mesh.packet.size',
      'Bytes of frames, as they came to the hub.',
      'By',
      BYTE_BOUNDS,
      relayed.map(({ type, bytes }) => createPoint({ 'gaia_mesh.packet.type': type }, bytes)),
    ),
    createMetric(
      {
        name: 'gaia_mesh.bytes',
        about: 'The ledger: each byte of a packet once, by packet type and by what it is for.',
        unit: 'By',
        bounds: null,
      },
      listLedgerPoints(exported),
    ),
  ].filter(({ points }) => points.length > 0);
}

interface Point {
  readonly attributes: Attributes;
  readonly value: number;
}

const LINES = ['payload', 'framing', 'envelope', 'payload_coding', 'layers'] as const;

function listLedgerPoints({ run }: ExportedRun): Point[] {
  return Object.entries(run?.metrics.ledger.types ?? {}).flatMap(([type, line]) =>
    LINES.map((name) => createPoint({ 'gaia_mesh.packet.type': type, 'gaia_mesh.line': name }, line[name])),
  );
}

function createPoint(attributes: Attributes, value: number): Point {
  return { attributes, value };
}

function createMetric(about: Omit<Metric, 'points'>, of: readonly Point[]): Metric {
  const groups = Map.groupBy(of, ({ attributes }) => JSON.stringify(attributes)).values();
  const points = [...groups].map((own) => ({
    attributes: own[0]?.attributes ?? {},
    values: own.map(({ value }) => value),
  }));
  return { ...about, points };
}

function pickAttributes(attributes: Attributes, names: readonly string[]): Attributes {
  return Object.fromEntries(
    names.flatMap((name) => (attributes[name] === undefined ? [] : [[name, attributes[name]]])),
  );
}

function toSeconds(us: number): number {
  return us / 1e6;
}
