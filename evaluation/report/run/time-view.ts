import type { TimeSplit } from '../../../core/recording/timeline.ts';
import { decimals } from '../../terminal/table.ts';
import { type TableView, tableView } from '../../terminal/table-view.ts';
import { counted, msText, shareText } from '../wording.ts';

/** In the order in which a packet goes through them, and what each is. */
const PARTS = [
  ['engine', 'the engine, which does the thinking'],
  ['tool', 'the tool around its engine'],
  ['agent', 'the agent around its tool: log and queue'],
  ['encode', 'the codec, writing'],
  ['wire', 'system calls, kernel and event loops'],
  ['relay', 'the hub'],
  ['decode', 'the codec, reading'],
] as const;

interface TimePart {
  readonly name: string;
  readonly what: string;
  readonly ms: number;
  readonly text: string;
  /** Of the mesh, not of the thinking. */
  readonly isMesh: boolean;
}

export interface TimeView {
  readonly finding: string;
  readonly caption: string;
  readonly parts: readonly TimePart[];
  readonly table: TableView;
}

/** Where the time of the answered tasks went. */
export function timeView(split: TimeSplit | null, answered: number): TimeView | null {
  if (split === null || split.total <= 0) return null;
  const thinking = split.engine + split.tool;
  const isEngine = split.engine >= split.tool;
  const largest = isEngine ? split.engine : split.tool;
  return {
    finding: `${shareText(largest / split.total)} of the time is the ${isEngine ? 'engine' : 'tools'}, ${shareText((split.total - thinking) / split.total)} the mesh`,
    caption: `${msText(split.total / 1000)} of ${counted(answered, 'answered task')}, along the chain of packets that led to each answer, every part measured. Grey is thinking, blue the mesh.`,
    parts: PARTS.map(([name, what]) => ({
      name,
      what,
      ms: split[name] / 1000,
      text: `${msText(split[name] / 1000)} · ${shareText(split[name] / split.total)}`,
      isMesh: name !== 'engine' && name !== 'tool',
    })),
    table: tableView(
      ['part', 'what it is', '#ms', '#share'],
      PARTS.map(([name, what]) => [
        name,
        what,
        decimals(split[name] / 1000, 3),
        shareText(split[name] / split.total),
      ]),
    ),
  };
}
