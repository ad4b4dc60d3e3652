type Attribute = string | number | boolean | string[];
export type Attributes = Readonly<Record<string, Attribute>>;

/** Returns the attributes that have a value, because exporters accept no undefined ones. */
export function omitAbsent(all: Readonly<Record<string, Attribute | null | undefined>>): Attributes {
  const known: Record<string, Attribute> = {};
  for (const [key, value] of Object.entries(all))
    if (value !== undefined && value !== null) known[key] = value;
  return known;
}

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
