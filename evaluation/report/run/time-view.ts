import type { TimeSplit } from '@gaia-mesh/core/recording/timeline.ts';
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
  ['unknown', 'agents that did not report what they did, and the way to and from them'],
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
  const mesh = split.total - thinking - split.unknown;
  // Agents in other languages need not report.
  const shown = PARTS.filter(([name]) => name !== 'unknown' || split.unknown > 0);
  const unknown = split.unknown > 0 ? `, ${shareText(split.unknown / split.total)} is not known` : '';
  const isEngine = split.engine >= split.tool;
  const largest = isEngine ? split.engine : split.tool;
  return {
    finding: `${shareText(largest / split.total)} of the time is the ${isEngine ? 'engine' : 'tools'}, ${shareText(mesh / split.total)} the mesh${unknown}`,
    caption: `${msText(split.total / 1000)} of ${counted(answered, 'answered task')}, along the chain of packets that led to each answer${split.unknown > 0 ? '' : ', every part measured'}. Grey is thinking${split.unknown > 0 ? ' or not known' : ''}, blue the mesh.`,
    parts: shown.map(([name, what]) => ({
      name,
      what,
      ms: split[name] / 1000,
      text: `${msText(split[name] / 1000)} · ${shareText(split[name] / split.total)}`,
      isMesh: !['engine', 'tool', 'unknown'].includes(name),
    })),
    table: tableView(
      ['part', 'what it is', '#ms', '#share'],
      shown.map(([name, what]) => [
        name,
        what,
        decimals(split[name] / 1000, 3),
        shareText(split[name] / split.total),
      ]),
    ),
  };
}
