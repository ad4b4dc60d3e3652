import { showHidden, UNKNOWN } from './format.ts';
import type { Tone } from './parts.tsx';
import type { Column } from './result-table.tsx';

interface Interval {
  readonly at: number;
  readonly low: number;
  readonly high: number | null;
  readonly tone: Tone;
}

interface ForestScale {
  readonly low: number;
  readonly high: number;
  readonly isLog: boolean;
  /** A band through all rows, such as the interval of the null arm. */
  readonly band?: readonly [low: number, high: number] | undefined;
  /** The value that means no difference. */
  readonly zero: number;
  readonly ticks: readonly number[];
  readonly format: (value: number) => string;
}

/** Width of a forest plot in its own units; on the page it is as wide as its column. */
const FOREST = 300;
const MARGIN = 14;

function place(scale: ForestScale, value: number): number {
  const read = (number: number) => (scale.isLog ? Math.log(Math.max(number, 1e-9)) : number);
  const share = (read(value) - read(scale.low)) / (read(scale.high) - read(scale.low) || 1);
  return MARGIN + Math.min(1, Math.max(0, share)) * (FOREST - 2 * MARGIN);
}

function ForestAxis({ scale }: { readonly scale: ForestScale }) {
  return (
    <svg class="forest axis" viewBox={`0 0 ${FOREST} 14`} aria-hidden="true">
      {scale.ticks.map((tick) => (
        <text key={tick} x={place(scale, tick)} y={11} text-anchor="middle">
          {scale.format(tick)}
        </text>
      ))}
    </svg>
  );
}

/** One interval of a forest plot, drawn in a row of a table. */
function Forest({ scale, interval }: { readonly scale: ForestScale; readonly interval: Interval }) {
  const { at, low, high, tone } = interval;
  const zero = place(scale, scale.zero);
  const [from, to] = [place(scale, low), place(scale, high ?? scale.high)];
  const { band } = scale;
  return (
    <svg class={`forest ${tone}`} viewBox={`0 0 ${FOREST} 20`} aria-hidden="true">
      {band === undefined ? null : (
        <rect
          class="band"
          x={place(scale, band[0])}
          width={place(scale, band[1]) - place(scale, band[0])}
          y={-8}
          height={36}
        />
      )}
      <line class="zero" x1={zero} x2={zero} y1={-8} y2={28} />
      <line class="range" x1={from} x2={to} y1={10} y2={10} />
      <circle cx={place(scale, at)} cy={10} r={4.5} />
    </svg>
  );
}

/**
 * Creates the column of a forest plot, with its axis in the heading.
 *
 * @param find returns the interval of a row; null if it has none
 */
export function createForestColumn<Row>(
  header: string,
  scale: ForestScale,
  find: (row: Row) => Interval | null,
  explain: string,
): Column<Row> {
  return {
    header,
    explain,
    axis: <ForestAxis scale={scale} />,
    value: () => '',
    cell: (row) => {
      const interval = find(row);
      return interval === null ? UNKNOWN : <Forest scale={scale} interval={interval} />;
    },
  };
}

interface BarPart {
  readonly name: string;
  readonly value: number;
  readonly hue: string;
  /** The value with its unit. */
  readonly text?: string;
}

interface BarProps {
  readonly parts: readonly BarPart[];
  readonly low?: number;
  readonly high: number;
}

/** A bar of parts on both sides of zero: costs stand on the right, savings on the left. */
export function Bar({ parts, low = 0, high }: BarProps) {
  const scale = (value: number) => ((value - low) / (high - low || 1)) * FOREST;
  let [left, right] = [0, 0];
  return (
    <svg
      class="forest bar-of-parts"
      viewBox={`0 0 ${FOREST} 12`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {parts.map(({ name, value, hue, text = String(value) }) => {
        const start = value < 0 ? left + value : right;
        if (value < 0) left += value;
        else right += value;
        return value === 0 ? null : (
          <rect
            key={name}
            x={scale(start)}
            width={Math.max(0.8, scale(low + Math.abs(value)))}
            height={12}
            style={{ fill: `var(${hue})` }}
          >
            <title>{`${name} ${text}`}</title>
          </rect>
        );
      })}
      {low < 0 ? <line class="zero" x1={scale(0)} x2={scale(0)} y1={-4} y2={16} /> : null}
    </svg>
  );
}

/** A bar of parts with a legend below it. */
export function LegendBar({ parts, label }: { readonly parts: readonly BarPart[]; readonly label: string }) {
  return (
    <figure class="plot" aria-label={label}>
      <Bar parts={parts} high={parts.reduce((sum, { value }) => sum + Math.max(0, value), 0)} />
      <Legend parts={parts} />
    </figure>
  );
}

/** The colours of a drawing, by name. */
export function Legend({ parts }: { readonly parts: readonly Pick<BarPart, 'name' | 'hue' | 'text'>[] }) {
  return (
    <p class="legend">
      {parts.map(({ name, hue, text = '' }) => (
        <span key={name}>
          <i style={{ background: `var(${hue})` }} />
          {showHidden(`${name} ${text}`)}
        </span>
      ))}
    </p>
  );
}
