import * as z from 'zod';

const number = z.number();

/**
 * Measurements of a load while it lasted, except `sent`, `wanted`, `came` and `bad`, which cover everything
 * ever sent.
 */
export const sampleSchema = z.object({
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
export type Sample = z.infer<typeof sampleSchema>;

/** Extracts a figure from a sample; NaN if the sample lacks it. */
export type SampleReading = (sample: Sample) => number;

export const readThousands: SampleReading = ({ rate }) => rate / 1000;
/** Processor time of the hub for one delivery, in microseconds. */
export const readHubCpu: SampleReading = ({ hub_cpu_s, delivered }) => (hub_cpu_s / delivered) * 1e6;
export const readPeak: SampleReading = ({ hub_peak_mb }) => hub_peak_mb;
/** Percentage of the time in which the generator waited. */
export const readIdleShare: SampleReading = ({ idle_s, seconds }) => (idle_s / seconds) * 100;
export const createLatencyReading =
  (key: 'p50' | 'p99' | 'p999'): SampleReading =>
  ({ latency_us }) =>
    latency_us?.[key] ?? Number.NaN;

/** Deliveries per second, starting half a second after the cut-off. */
export const rateAfterCut: SampleReading = ({ tenths, cut_s }) => {
  const after = tenths.slice(Math.ceil((cut_s + 0.5) * 10), -1);
  if (cut_s < 0 || after.length === 0) return Number.NaN;
  return (after.reduce((sum, each) => sum + each, 0) / after.length) * 10;
};
