import { formatHeaderLine } from '@gaia-mesh/core/recording/recording.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { type Attributes, omitAbsent, PACKETS, RECORDING_HEADER } from '../../traffic/packet-attributes.ts';
import type { ExportedRun } from '../exported-run.ts';
import { buildRunMetrics, type Metric } from './metrics.ts';
import { buildModelSpans } from './model-spans.ts';
import { buildPacketSpans, createRunSpan } from './packet-spans.ts';
import type { Span } from './span.ts';
import { WallClock } from './wall-clock.ts';

/** On the resource: true if payloads were left out. */
const CONTENTS_LEFT_OUT = 'gaia_mesh.contents_left_out';

/** A run in the terms of OpenTelemetry: resource, spans and metrics. */
export interface RunTelemetry {
  readonly resource: Attributes;
  readonly spans: readonly Span[];
  readonly metrics: readonly Metric[];
  /** The time from its first packet to its last. */
  readonly startUs: number;
  readonly endUs: number;
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
      [RECORDING_HEADER]: formatHeaderLine(header).trimEnd(),
      [PACKETS]: exported.recording.packets.length,
      [CONTENTS_LEFT_OUT]: hasContents ? undefined : true,
    }),
    spans: [run, ...below],
    metrics: buildRunMetrics(exported, clock),
    startUs,
    endUs,
  };
}
