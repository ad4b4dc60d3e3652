import type { TableView } from '../../terminal/table-view.ts';

/** One part of a bar, in the colour `hue` of the page's eight. */
interface StackedPart {
  readonly name: string;
  readonly hue: number;
  readonly from: number;
  readonly to: number;
  /** True if it is known to be more than noise; other parts are drawn faintly. */
  readonly isSure: boolean;
  readonly title: string;
}

export interface StackedRow {
  readonly label: string;
  /** Label at the end of the bar. */
  readonly text: string;
  /** End of the whole bar. */
  readonly end: number;
  readonly parts: readonly StackedPart[];
}

/** Bars of parts, in one or more ways to count them. */
export interface StackedView {
  readonly finding: string;
  readonly key: readonly { readonly hue: number; readonly name: string; readonly what: string }[];
  readonly choices: readonly {
    readonly name: string;
    readonly axis: string;
    readonly rows: readonly StackedRow[];
  }[];
  /** Parts that add up from 0, or ratios that multiply from 1 on a logarithmic scale. */
  readonly scale: 'sum' | 'product';
  readonly caption: string;
  readonly table: TableView;
}

interface Value {
  readonly name: string;
  readonly hue: number;
  readonly value: number;
  readonly isSure?: boolean;
  readonly title: string;
}

/**
 * Parts side by side: those that add run to the right of where nothing is (0, or 1× of ratios), those that save to the left of it, so that
 * every part can be seen; the whole is what the right has more than the left.
 */
export function stackParts(values: readonly Value[], scale: StackedView['scale']): StackedPart[] {
  const isSum = scale === 'sum';
  const nothing = isSum ? 0 : 1;
  let [right, left] = [nothing, nothing];
  return values.flatMap(({ name, hue, value, isSure = true, title }) => {
    if (value === nothing) return [];
    const isMore = value > nothing;
    const start = isMore ? right : left;
    const end = isSum ? start + value : start * value;
    if (isMore) right = end;
    else left = end;
    return [{ name, hue, from: Math.min(start, end), to: Math.max(start, end), isSure, title }];
  });
}
