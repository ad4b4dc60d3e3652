import type { Attributes } from '../../traffic/packet-attributes.ts';
import type { Stretch } from './wall-clock.ts';

/** A span, independent of OpenTelemetry's packages, which are loaded only when something is sent. */
export interface Span extends Stretch {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'client';
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
