import type { VersusView } from '../report/run/versus-view.ts';
import type { TableView } from '../terminal/table-view.ts';

/** Something in a folder that can be looked at. */
export interface FolderItem {
  readonly id: string;
  readonly kind: 'run' | 'batch' | 'comparison' | 'stacks';
  /** What is opened. */
  readonly file: string;
  /** Below the folder, as people say it. */
  readonly place: string;
  readonly modifiedMs: number;
  readonly title: string;
  readonly facts: string;
}

/** What the page is told: where files are is nobody's business but ours. */
export type ListedItem = Omit<FolderItem, 'file'>;

/** Two things of a folder side by side: what can be said of them, and what cannot and why. */
export interface ItemsCompared {
  readonly title: string;
  readonly table: TableView | null;
  readonly refused: readonly string[];
  readonly notes: readonly string[];
  /** Of runs. */
  readonly versus: VersusView | null;
}

/** A packet or a question that holds a text. */
export interface Found {
  readonly item: string;
  readonly place: string;
  readonly kind: 'packet' | 'question';
  readonly name: string;
  /** What it says around the text. */
  readonly excerpt: string;
  /** The page of the item where it stands, behind its address. */
  readonly hash: string;
}

export interface Search {
  readonly found: readonly Found[];
  /** Why there may be more. */
  readonly cut: string | null;
}
