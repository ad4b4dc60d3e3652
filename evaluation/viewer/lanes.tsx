import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PacketColumns } from '../report/run/packet-columns.ts';
import { formatBytes, formatMs, nameAgent, toLine } from './format.ts';

export function nameNode({ nodes }: Pick<PacketColumns, 'nodes'>, index: number): string {
  return nameAgent(nodes[index] ?? { id: '', tool: '' });
}

interface LanesProps {
  readonly flow: PacketColumns;
  /** Indexes of the packets that are shown, ascending. */
  readonly shown: readonly number[];
  /** Returns the nodes at which the arrows of a packet end: those that reacted to it. */
  readonly ends: (packet: number) => readonly number[];
  readonly isFinal: (packet: number) => boolean;
  readonly selected: number | null;
  readonly onSelect: (packet: number) => void;
}

/** Maximum lanes of a chart; the nodes with the most packets get them. */
const MAX_LANES = 24;
const LABEL_ROOM = { wide: 132, narrow: 76 };
const AXIS_HEIGHT = 26;
/** Maximum distance in pixels between a click and the arrow that it selects. */
const REACH = 10;
/** The shortest time that a view can show, in microseconds. */
const SHORTEST_US = 20;

interface View {
  readonly from: number;
  readonly to: number;
}

interface Layout {
  readonly width: number;
  readonly left: number;
  readonly laneHeight: number;
  readonly height: number;
  /** Index of the lane of each node; undefined for one without. */
  readonly lanes: ReadonlyMap<number, number>;
  readonly view: View;
}

export function Lanes(props: LanesProps) {
  const { flow, shown, selected, onSelect } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [view, setView] = useState<View>(() => findWhole(flow, shown));
  const [pointed, setPointed] = useState<{ packet: number; x: number; y: number } | null>(null);
  const drag = useRef<{ x: number; view: View; isMoved: boolean } | null>(null);
  const lanes = chooseLanes(flow, shown, selected);
  const isNarrow = width < 560;
  const laneHeight = lanes.size > 12 ? 30 : 44;
  const height = lanes.size * laneHeight + AXIS_HEIGHT + 8;
  const left = isNarrow ? LABEL_ROOM.narrow : LABEL_ROOM.wide;
  const layout: Layout = { width, left, laneHeight, height, lanes, view };
  const whole = findWhole(flow, shown);

  useLayoutEffect(() => {
    const node = frame.current;
    if (node === null) return;
    const measure = () => setWidth(node.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    if (!isFirst.current) setView(findWhole(flow, shown));
    isFirst.current = false;
  }, [shown]);
  useLayoutEffect(() => {
    if (canvas.current !== null && width > 0) drawLanes(canvas.current, layout, props);
  }, [width, view, flow, shown, selected]);
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => setView((now) => ({ ...now }));
    scheme.addEventListener('change', redraw);
    return () => scheme.removeEventListener('change', redraw);
  }, []);

  const step = (by: number) => {
    const at = selected === null ? -1 : shown.indexOf(selected);
    const next = shown[Math.min(shown.length - 1, Math.max(0, at + by))];
    if (next === undefined) return;
    onSelect(next);
    const time = flow.at[next] ?? 0;
    if (time < view.from || time > view.to) setView(clampView(moveTo(view, time), whole));
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    '+': () => setView(zoom(view, whole, 0.5)),
    '-': () => setView(zoom(view, whole, 2)),
    '0': () => setView(whole),
  };
  const isWhole = view.from <= whole.from && view.to >= whole.to;
  return (
    <div>
      <div class="tools">
        <button type="button" aria-label="Zoom in" onClick={() => setView(zoom(view, whole, 0.5))}>
          +
        </button>
        <button
          type="button"
          aria-label="Zoom out"
          disabled={isWhole}
          onClick={() => setView(zoom(view, whole, 2))}
        >
          −
        </button>
        <button type="button" disabled={isWhole} onClick={() => setView(whole)}>
          All
        </button>
      </div>
      <div ref={frame} class="lanes-frame">
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          aria-label={describeLanes(flow, shown, selected)}
          style={{ height: `${height}px` }}
          onKeyDown={(event) => {
            const act = event.ctrlKey || event.metaKey ? undefined : keys[event.key];
            if (act === undefined) return;
            event.preventDefault();
            act();
          }}
          onPointerDown={(event) => {
            drag.current = { x: event.offsetX, view, isMoved: false };
          }}
          onPointerMove={(event) => {
            const began = drag.current;
            if (began !== null && event.buttons > 0) {
              const moved = event.offsetX - began.x;
              if (Math.abs(moved) > 4) began.isMoved = true;
              if (!began.isMoved) return;
              const us = (moved / Math.max(1, width - left)) * (began.view.to - began.view.from);
              setView(clampView({ from: began.view.from - us, to: began.view.to - us }, whole));
              return;
            }
            const packet = findPacket(layout, props, event.offsetX, event.offsetY);
            setPointed(packet === null ? null : { packet, x: event.offsetX, y: event.offsetY });
          }}
          onPointerUp={(event) => {
            const isClick = drag.current?.isMoved === false;
            drag.current = null;
            const packet = isClick ? findPacket(layout, props, event.offsetX, event.offsetY) : null;
            if (packet !== null) onSelect(packet);
          }}
          onPointerLeave={() => {
            drag.current = null;
            setPointed(null);
          }}
        />
        {pointed === null ? null : (
          <div
            class="tip"
            style={{ left: `${Math.min(pointed.x + 12, width - 190)}px`, top: `${pointed.y + 14}px` }}
          >
            {describePacket(flow, pointed.packet)}
          </div>
        )}
      </div>
    </div>
  );
}

function describeLanes(flow: PacketColumns, shown: readonly number[], selected: number | null): string {
  const all = `${shown.length} packets between ${flow.nodes.length} nodes over time; arrow keys go from one to the next`;
  return selected === null ? all : `${all}. Selected: ${describePacket(flow, selected)}`;
}

function describePacket(flow: PacketColumns, packet: number): string {
  const { types, at, from, type, bytes } = flow;
  return `${toLine(types[type[packet] ?? 0] ?? '', 60)} of ${nameNode(flow, from[packet] ?? 0)}, ${formatBytes(bytes[packet] ?? 0)}, at ${formatMs((at[packet] ?? 0) / 1000)}`;
}

/** Returns the view that shows all packets and the work of their tools. */
function findWhole({ at, tool, afterTool }: PacketColumns, shown: readonly number[]): View {
  const [first] = shown;
  const last = shown.at(-1);
  if (first === undefined || last === undefined) return { from: 0, to: 1000 };
  const began = (at[first] ?? 0) - (afterTool[first] ?? 0) - (tool[first] ?? 0);
  const from = Math.min(at[first] ?? 0, began);
  const span = Math.max(SHORTEST_US, (at[last] ?? 0) - from);
  return { from: from - span * 0.02, to: from + span * 1.06 };
}

function zoom({ from, to }: View, whole: View, factor: number): View {
  const middle = (from + to) / 2;
  const half = Math.max(SHORTEST_US, (to - from) * factor) / 2;
  return clampView({ from: middle - half, to: middle + half }, whole);
}

function clampView({ from, to }: View, whole: View): View {
  const span = to - from;
  if (span >= whole.to - whole.from) return whole;
  const start = Math.min(Math.max(from, whole.from), whole.to - span);
  return { from: start, to: start + span };
}

function moveTo({ from, to }: View, time: number): View {
  const half = (to - from) / 2;
  return { from: time - half, to: time + half };
}

/** Gives lanes to the nodes with the most packets, in the order of the nodes. */
function chooseLanes({ nodes, from }: PacketColumns, shown: readonly number[], selected: number | null) {
  if (nodes.length <= MAX_LANES) return new Map(nodes.map((_, index) => [index, index]));
  const sent = new Map<number, number>();
  for (const packet of shown) sent.set(from[packet] ?? 0, (sent.get(from[packet] ?? 0) ?? 0) + 1);
  const busiest = [...sent].sort((a, b) => b[1] - a[1]).map(([node]) => node);
  const always = selected === null ? [0] : [0, from[selected] ?? 0];
  const chosen = [...new Set([...always, ...busiest])].slice(0, MAX_LANES).sort((a, b) => a - b);
  return new Map(chosen.map((node, index) => [node, index]));
}

/** Returns the position of the first shown packet at or after a time. */
function findFrom({ at }: PacketColumns, shown: readonly number[], time: number): number {
  let [low, high] = [0, shown.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((at[shown[middle] ?? 0] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function findPacket(layout: Layout, { flow, shown, ends }: LanesProps, x: number, y: number): number | null {
  const { left, width, view, laneHeight, lanes } = layout;
  const scale = (width - left) / (view.to - view.from);
  const reach = REACH / scale;
  const time = view.from + (x - left) / scale;
  let best: number | null = null;
  let nearest = Number.POSITIVE_INFINITY;
  const longest = time + Math.max(reach, (view.to - view.from) * 0.6);
  for (let index = findFrom(flow, shown, time - reach); index < shown.length; index++) {
    const packet = shown[index] ?? 0;
    const at = flow.at[packet] ?? 0;
    if (at > longest) break;
    const lane = lanes.get(flow.from[packet] ?? 0);
    if (lane === undefined) continue;
    const middle = lane * laneHeight + laneHeight / 2 + 4;
    const isOnTool =
      Math.abs(y - middle) < 10 &&
      time <= at - (flow.afterTool[packet] ?? 0) &&
      time >= at - (flow.afterTool[packet] ?? 0) - (flow.tool[packet] ?? 0);
    const spans = [...ends(packet), 0].flatMap((node) => lanes.get(node) ?? []);
    const low = Math.min(lane, ...spans) * laneHeight;
    const high = Math.max(lane, ...spans) * laneHeight + laneHeight;
    const away = isOnTool ? 0 : Math.abs(at - time) * scale;
    if (!isOnTool && (away > REACH || y < low || y > high)) continue;
    if (away < nearest) [best, nearest] = [packet, away];
  }
  return best;
}

interface Ink {
  readonly line: string;
  readonly ink: string;
  readonly muted: string;
  readonly tool: string;
  readonly chosen: string;
  readonly final: string;
  readonly card: string;
}

/** Reads the page's colours, which a canvas does not inherit. */
function readInk(canvas: HTMLCanvasElement): Ink {
  const probe = document.createElement('span');
  canvas.parentElement?.append(probe);
  const read = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const ink = {
    line: read('--line'),
    ink: read('--ink'),
    muted: read('--muted'),
    tool: read('--s1'),
    chosen: read('--s2'),
    final: read('--good'),
    card: read('--card'),
  };
  probe.remove();
  return ink;
}

function drawLanes(canvas: HTMLCanvasElement, layout: Layout, props: LanesProps): void {
  const { width, height } = layout;
  const density = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(density, density);
  context.clearRect(0, 0, width, height);
  const ink = readInk(canvas);
  context.font = `12px ${getComputedStyle(canvas).fontFamily}`;
  drawFrame(context, layout, props.flow, ink);
  context.save();
  context.beginPath();
  context.rect(layout.left, 0, width - layout.left, height - AXIS_HEIGHT);
  context.clip();
  drawPackets(context, layout, props, ink);
  context.restore();
}

function drawFrame(context: CanvasRenderingContext2D, layout: Layout, flow: PacketColumns, ink: Ink): void {
  const { width, left, laneHeight, height, lanes, view } = layout;
  const scale = (width - left) / (view.to - view.from);
  context.strokeStyle = ink.line;
  context.fillStyle = ink.muted;
  context.textAlign = 'center';
  for (const time of listTimes(view, Math.max(2, Math.floor((width - left) / 90)))) {
    const x = Math.round(left + (time - view.from) * scale) + 0.5;
    context.beginPath();
    context.moveTo(x, 4);
    context.lineTo(x, height - AXIS_HEIGHT);
    context.stroke();
    if (x < width - 20) context.fillText(formatMs(time / 1000), x, height - 8);
  }
  context.textAlign = 'left';
  for (const [node, lane] of lanes) {
    const y = Math.round(lane * laneHeight + laneHeight / 2 + 4) + 0.5;
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(width, y);
    context.stroke();
    context.fillStyle = ink.ink;
    context.fillText(fitText(context, nameNode(flow, node), left - 10), 0, y + 4);
  }
}

function fitText(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let cut = text;
  while (cut.length > 1 && context.measureText(`${cut}…`).width > room) cut = cut.slice(0, -1);
  return `${cut}…`;
}

/** Lists round times within a view. */
function listTimes({ from, to }: View, most: number): number[] {
  const rough = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const stride = [1, 2, 5, 10].map((step) => step * power).find((step) => step >= rough) ?? rough;
  const times: number[] = [];
  for (let time = Math.ceil(from / stride) * stride; time <= to; time += stride) times.push(time);
  return times;
}

function drawPackets(
  context: CanvasRenderingContext2D,
  layout: Layout,
  { flow, shown, ends, isFinal, selected }: LanesProps,
  ink: Ink,
): void {
  const { width, left, laneHeight, lanes, view } = layout;
  const scale = (width - left) / (view.to - view.from);
  const toX = (time: number) => left + (time - view.from) * scale;
  const toY = (lane: number) => lane * laneHeight + laneHeight / 2 + 4;
  const start = findFrom(flow, shown, view.from);
  /** Arrows and narrow bars that are drawn already, by their pixels: in a flood, one stands for many. */
  const drawn = new Set<number>();
  const bars = new Set<number>();
  const labels: Label[] = [];
  const arrows = new Map<string, Path2D>(
    [ink.muted, ink.ink, ink.final, ink.chosen].map((c) => [c, new Path2D()]),
  );
  const isDense = shown.length > 2000;
  for (let index = start; index < shown.length; index++) {
    const packet = shown[index] ?? 0;
    const at = flow.at[packet] ?? 0;
    const toolEnd = at - (flow.afterTool[packet] ?? 0);
    const toolStart = toolEnd - (flow.tool[packet] ?? 0);
    if (toolStart > view.to) {
      if (at - view.to > view.to - view.from) break;
      continue;
    }
    const lane = lanes.get(flow.from[packet] ?? 0);
    if (lane === undefined) continue;
    const x = Math.round(toX(at));
    if (toolEnd > toolStart) {
      const x1 = toX(toolStart);
      const x2 = toX(toolEnd);
      const key =
        (Math.round(x1) * MAX_LANES + lane) * MAX_LANES + Math.min(MAX_LANES - 1, Math.round(x2 - x1));
      if (packet === selected || x2 - x1 >= MAX_LANES - 1 || !bars.has(key)) {
        bars.add(key);
        context.fillStyle = packet === selected ? ink.chosen : ink.tool;
        context.beginPath();
        context.roundRect(x1, toY(lane) - 8, Math.max(1.5, x2 - x1), 16, Math.min(4, (x2 - x1) / 2));
        context.fill();
      }
      if (x2 - x1 > 56) {
        context.fillStyle = ink.card;
        context.textAlign = 'center';
        context.fillText(
          formatMs((flow.tool[packet] ?? 0) / 1000),
          (Math.max(x1, left) + Math.min(x2, width)) / 2,
          toY(lane) + 4,
        );
      }
    }
    if (at > view.to) continue;
    const own = ends(packet).flatMap((node) => lanes.get(node) ?? []);
    const isLast = isFinal(packet);
    const targets = isLast || own.length === 0 ? [lanes.get(0) ?? 0] : own;
    for (const target of targets) {
      const key = (x * MAX_LANES + lane) * MAX_LANES + target;
      if (packet !== selected && drawn.has(key)) continue;
      drawn.add(key);
      const color =
        packet === selected ? ink.chosen : isLast ? ink.final : own.length === 0 ? ink.muted : ink.ink;
      const path = arrows.get(color);
      if (path === undefined) continue;
      if (target === lane) path.arc(x, toY(lane), 3, 0, 2 * Math.PI);
      else addArrow(path, x + 0.5, toY(lane), toY(target), isDense);
    }
    if (!isDense)
      labels.push({
        packet,
        x,
        reach: [toY(lane), ...targets.map(toY)],
        // The name of the last packet stands at the head of its arrow, where no other name of its chain stands.
        y: isLast
          ? toY(targets[0] ?? 0) + laneHeight / 2 + 4
          : toY(lane) + (Math.sign((targets[0] ?? 0) - lane) * laneHeight) / 2 + 4,
        color: packet === selected ? ink.chosen : isLast ? ink.final : ink.muted,
      });
  }
  for (const [color, path] of arrows) {
    context.strokeStyle = color;
    context.lineWidth = color === ink.chosen ? 2.4 : isDense ? 0.8 : 1.4;
    context.stroke(path);
  }
  context.lineWidth = 1;
  drawLabels(context, flow, labels, width);
}

/** The name of a packet beside its arrow, which stands at `x` between the lanes of `reach`. */
interface Label {
  readonly packet: number;
  readonly x: number;
  readonly y: number;
  readonly reach: readonly number[];
  readonly color: string;
}

function addArrow(path: Path2D, x: number, from: number, to: number, isPlain: boolean): void {
  const way = to > from ? 1 : -1;
  path.moveTo(x, from + 9 * way);
  path.lineTo(x, to - 10 * way);
  if (isPlain) return;
  path.moveTo(x - 4, to - 15 * way);
  path.lineTo(x, to - 10 * way);
  path.lineTo(x + 4, to - 15 * way);
}

/** Writes names beside arrows where no other arrow or name stands. */
function drawLabels(
  context: CanvasRenderingContext2D,
  { types, type, bytes }: PacketColumns,
  labels: readonly Label[],
  width: number,
): void {
  const taken: { from: number; to: number; top: number; bottom: number }[] = labels.map(({ x, reach }) => ({
    from: x,
    to: x + 1,
    top: Math.min(...reach),
    bottom: Math.max(...reach),
  }));
  for (const { packet, x, y, color } of labels) {
    const name = `${toLine(types[type[packet] ?? 0] ?? '', 24)} ${formatBytes(bytes[packet] ?? 0)}`;
    const room = context.measureText(name).width;
    const isFree = (from: number) =>
      taken.every(
        ({ top, bottom, ...other }) =>
          y < top - 2 || y - 12 > bottom || other.to < from || other.from > from + room,
      );
    const sides = x + 7 + room > width ? [x - 7 - room] : [x + 7, x - 7 - room];
    const from = sides.find(isFree);
    if (from === undefined) continue;
    const isLeft = from < x;
    taken.push({ from, to: from + room, top: y - 10, bottom: y });
    context.fillStyle = color;
    context.textAlign = isLeft ? 'right' : 'left';
    context.fillText(name, isLeft ? x - 7 : x + 7, y);
  }
}
