import * as z from 'zod';

const number = z.number();

const measuredSchema = z.object({
  seconds: number,
  delivered: number,
  /** Deliveries per second. */
  rate: number,
  sent: number,
  wanted: number,
  came: number,
  bad: number,
  hub_cpu_s: number,
  own_cpu_s: number,
  idle_s: number,
  hub_peak_mb: number,
  /** Time at which the stuck agent was cut off, in seconds; −1 if it was not. */
  cut_s: number,
  latency_us: z.object({ samples: number, p50: number, p99: number, p999: number, max: number }).optional(),
  /** Deliveries in each tenth of a second. */
  tenths: z.array(number),
});

/**
 * Measurements of a load while it lasted, except `sent`, `wanted`, `came` and `bad`, which cover everything
 * ever sent, and figures derived from them; NaN if the measurements lack a figure.
 */
export const sampleSchema = measuredSchema.transform((measured) => ({
  ...measured,
  thousands: measured.rate / 1000,
  /** Processor time of the hub for one delivery. */
  hub_cpu_us: (measured.hub_cpu_s / measured.delivered) * 1e6,
  /** Percentage of the time in which the generator waited. */
  idle_percent: (measured.idle_s / measured.seconds) * 100,
  /** Percentage of the time in which the generator, which sleeps between packets at a fixed rate, had a core. */
  ran_percent: (measured.own_cpu_s / measured.seconds) * 100,
  p50_us: measured.latency_us?.p50 ?? Number.NaN,
  p99_us: measured.latency_us?.p99 ?? Number.NaN,
  p999_us: measured.latency_us?.p999 ?? Number.NaN,
  thousands_after_cut: computeRateAfterCut(measured) / 1000,
}));
export type Sample = z.output<typeof sampleSchema>;

/** A number that a sample has. */
export type Figure = { [Key in keyof Sample]-?: Sample[Key] extends number ? Key : never }[keyof Sample];

/** Computes the deliveries per second, starting half a second after the cut-off. */
function computeRateAfterCut({ tenths, cut_s }: z.output<typeof measuredSchema>): number {
  const after = tenths.slice(Math.ceil((cut_s + 0.5) * 10), -1);
  if (cut_s < 0 || after.length === 0) return Number.NaN;
  return (after.reduce((sum, each) => sum + each, 0) / after.length) * 10;
}
