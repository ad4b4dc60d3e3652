import type { TimeSplit } from '@gaia-mesh/core/recording/timeline.ts';
import { formatDecimals } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';
import { formatCounted, formatMs, formatShare } from '../wording.ts';

/** In the order in which a packet goes through them, and what each is. */
const PARTS = [
  ['engine', 'the engine, which does the thinking'],
  ['tool', 'the tool around its engine'],
  ['agent', 'the agent around its tool: log and queue'],
  ['encode', 'the codec, writing'],
  ['wire', 'system calls, kernel and event loops'],
  ['relay', 'the hub'],
  ['decode', 'the codec, reading'],
  ['unknown', 'agents that did not report what they did, and the way to and from them'],
] as const;

interface TimePart {
  readonly name: string;
  readonly what: string;
  readonly ms: number;
  readonly text: string;
  /** True for time of the mesh, false for thinking. */
  readonly isMesh: boolean;
}

export interface TimeView {
  readonly finding: string;
  readonly caption: string;
  readonly parts: readonly TimePart[];
  readonly table: TableView;
}

/** Builds the parts of the time of the answered tasks. */
export function buildTimeView(split: TimeSplit | null, answered: number): TimeView | null {
  if (split === null || split.total <= 0) return null;
  const thinking = split.engine + split.tool;
  const mesh = split.total - thinking - split.unknown;
  // Agents in other languages need not report.
  const shown = PARTS.filter(([name]) => name !== 'unknown' || split.unknown > 0);
  const unknown = split.unknown > 0 ? `, ${formatShare(split.unknown / split.total)} is not known` : '';
  const isEngine = split.engine >= split.tool;
  const largest = isEngine ? split.engine : split.tool;
  return {
    finding: `${formatShare(largest / split.total)} of the time is the ${isEngine ? 'engine' : 'tools'}, ${formatShare(mesh / split.total)} the mesh${unknown}`,
    caption: `${formatMs(split.total / 1000)} of ${formatCounted(answered, 'answered task')}, along the chain of packets that led to each answer${split.unknown > 0 ? '' : ', every part measured'}. Grey is thinking${split.unknown > 0 ? ' or not known' : ''}, blue the mesh.`,
    parts: shown.map(([name, what]) => ({
      name,
      what,
      ms: split[name] / 1000,
      text: `${formatMs(split[name] / 1000)} · ${formatShare(split[name] / split.total)}`,
      isMesh: !['engine', 'tool', 'unknown'].includes(name),
    })),
    table: createTableView(
      ['part', 'what it is', '#ms', '#share'],
      shown.map(([name, what]) => [
        name,
        what,
        formatDecimals(split[name] / 1000, 3),
        formatShare(split[name] / split.total),
      ]),
    ),
  };
}
