import type { TableView } from '../terminal/table-view.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
  readonly title: string;
}

/** One arm: a line, perhaps a second one above it, and what single rounds came to. */
export interface Panel {
  readonly label: string;
  readonly note: string;
  readonly line: readonly Point[];
  readonly upper: readonly Point[];
  readonly dots: readonly Point[];
  /** Loads that the arm did not keep up with, which have no value. */
  readonly lost: readonly number[];
  /** Position of the knee. */
  readonly mark: number | null;
}

/** A small chart for each arm, all on the same axes, with the baseline's line behind each. */
export interface PanelsView {
  readonly finding: string;
  readonly panels: readonly Panel[];
  readonly x: { readonly label: string; readonly isLog: boolean; readonly ticks: readonly number[] | null };
  readonly y: { readonly label: string; readonly isLog: boolean };
  readonly caption: string;
  readonly table: TableView;
}

export const EMPTY = { upper: [], dots: [], lost: [], mark: null } as const;
