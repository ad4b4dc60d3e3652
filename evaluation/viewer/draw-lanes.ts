import type { ShownPacket } from '../report/page-data.ts';
import { formatBytes, formatMs, toLine } from './format.ts';

/** Draws packets and the work of tools on a canvas, which stays fluent at 100,000 packets. */

const HUB = 'hub';
/** Maximum lanes of a chart; the nodes with the most packets get them. */
const MAX_LANES = 24;
const AXIS_HEIGHT = 26;
/** Maximum distance in pixels between a click and the arrow that it selects. */
const REACH = 10;
/** Number of packets from which on arrows have no names and no heads, which nobody could tell apart. */
const DENSE = 2000;

export interface LanesContent {
  /** Names of the nodes by their ids, the hub first. */
  readonly names: ReadonlyMap<string, string>;
  /** The shown packets, ascending by time. */
  readonly shown: readonly ShownPacket[];
  /** Returns the nodes at which the arrows of a packet end: those that reacted to it, or the hub. */
  readonly findEnds: (packet: ShownPacket) => readonly string[];
  readonly selected: ShownPacket | null;
}

/** A part of the time, in milliseconds. */
export interface View {
  readonly from: number;
  readonly to: number;
}

/** The geometry of a picture of lanes. */
interface Layout {
  readonly width: number;
  readonly height: number;
  /** Width of the names beside the lanes. */
  readonly left: number;
  readonly laneHeight: number;
  /** Number of the lane of each node that has one. */
  readonly lanes: ReadonlyMap<string, number>;
  readonly view: View;
  readonly pixelsPerMs: number;
  readonly toX: (ms: number) => number;
  readonly toY: (lane: number) => number;
}

/** A picture of lanes, which draws itself and knows what is at a point of it. */
interface Picture extends Pick<Layout, 'height' | 'pixelsPerMs'> {
  readonly draw: (canvas: HTMLCanvasElement) => void;
  /** Finds the packet whose arrow or tool is at a point. */
  readonly find: (x: number, y: number) => ShownPacket | null;
}

/** Lays out the packets of a view in a width. */
export function createPicture(width: number, view: View, content: LanesContent): Picture {
  const lanes = chooseLanes(content);
  const left = width < 560 ? 76 : 132;
  const laneHeight = lanes.size > 12 ? 30 : 44;
  const pixelsPerMs = Math.max(1, width - left) / (view.to - view.from);
  const height = lanes.size * laneHeight + AXIS_HEIGHT + 8;
  const layout: Layout = {
    width,
    height,
    left,
    laneHeight,
    lanes,
    view,
    pixelsPerMs,
    toX: (ms) => left + (ms - view.from) * pixelsPerMs,
    toY: (lane) => lane * laneHeight + laneHeight / 2 + 4,
  };
  return {
    height,
    pixelsPerMs,
    draw: (canvas) => drawLanes(canvas, layout, content),
    find: (x, y) => findPacket(layout, content, x, y),
  };
}

/** Gives lanes to the hub, to the sender of the selected packet and to the nodes with the most packets, in the order of the nodes. */
function chooseLanes({ names, shown, selected }: LanesContent): Map<string, number> {
  let chosen = [...names.keys()];
  if (chosen.length > MAX_LANES) {
    const sent = new Map<string, number>();
    for (const { from } of shown) sent.set(from, (sent.get(from) ?? 0) + 1);
    const busiest = [...sent].sort(([, a], [, b]) => b - a).map(([node]) => node);
    const kept = new Set([HUB, selected?.from ?? HUB, ...busiest].slice(0, MAX_LANES));
    chosen = chosen.filter((node) => kept.has(node));
  }
  return new Map(chosen.map((node, lane) => [node, lane]));
}

/** Returns the time in which the sender's tool worked for a packet. */
function findWork({ atMs, toolMs = 0, afterToolMs = 0 }: ShownPacket): View {
  return { from: atMs - afterToolMs - toolMs, to: atMs - afterToolMs };
}

/** Returns the position of the first shown packet at or after a time. */
function findFrom(shown: readonly ShownPacket[], ms: number): number {
  let [low, high] = [0, shown.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shown[middle]?.atMs ?? 0) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

function findPacket(layout: Layout, content: LanesContent, x: number, y: number): ShownPacket | null {
  const { left, view, laneHeight, lanes, pixelsPerMs, toY } = layout;
  const { shown, findEnds } = content;
  const reach = REACH / pixelsPerMs;
  const ms = view.from + (x - left) / pixelsPerMs;
  const latest = ms + Math.max(reach, (view.to - view.from) * 0.6);
  let best: ShownPacket | null = null;
  let nearest = Number.POSITIVE_INFINITY;
  for (let index = findFrom(shown, ms - reach); index < shown.length; index++) {
    const packet = shown[index];
    if (packet === undefined || packet.atMs > latest) break;
    const lane = lanes.get(packet.from);
    if (lane === undefined) continue;
    const work = findWork(packet);
    const isOnTool = Math.abs(y - toY(lane)) < 10 && ms >= work.from && ms <= work.to;
    const away = isOnTool ? 0 : Math.abs(packet.atMs - ms) * pixelsPerMs;
    if (away >= nearest) continue;
    if (!isOnTool) {
      const spans = [lane, 0, ...findEnds(packet).flatMap((node) => lanes.get(node) ?? [])];
      const isBeside = y < Math.min(...spans) * laneHeight || y > (Math.max(...spans) + 1) * laneHeight;
      if (away > REACH || isBeside) continue;
    }
    [best, nearest] = [packet, away];
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

function drawLanes(canvas: HTMLCanvasElement, layout: Layout, content: LanesContent): void {
  const { width, height, left } = layout;
  const density = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(density, density);
  const ink = readInk(canvas);
  context.font = `12px ${getComputedStyle(canvas).fontFamily}`;
  drawFrame(context, layout, content.names, ink);
  context.save();
  context.beginPath();
  context.rect(left, 0, width - left, height - AXIS_HEIGHT);
  context.clip();
  drawPackets(context, layout, content, ink);
  context.restore();
}

function drawFrame(
  context: CanvasRenderingContext2D,
  { width, left, height, lanes, view, toX, toY }: Layout,
  names: LanesContent['names'],
  ink: Ink,
): void {
  context.strokeStyle = ink.line;
  context.fillStyle = ink.muted;
  context.textAlign = 'center';
  for (const ms of listTimes(view, Math.max(2, Math.floor((width - left) / 90)))) {
    const x = Math.round(toX(ms)) + 0.5;
    drawLine(context, x, 4, x, height - AXIS_HEIGHT);
    if (x < width - 20) context.fillText(formatMs(ms), x, height - 8);
  }
  context.textAlign = 'left';
  context.fillStyle = ink.ink;
  for (const [node, lane] of lanes) {
    const y = Math.round(toY(lane)) + 0.5;
    drawLine(context, left, y, width, y);
    context.fillText(fitText(context, names.get(node) ?? node, left - 10), 0, y + 4);
  }
}

function drawLine(context: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
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
  { shown, findEnds, selected }: LanesContent,
  ink: Ink,
): void {
  const { laneHeight, lanes, view, toX, toY } = layout;
  /** Arrows and narrow bars that are drawn already, by their pixels: in a flood, one stands for many. */
  const drawn = new Set<number>();
  const bars = new Set<number>();
  const labels: Label[] = [];
  const arrows = new Map([ink.muted, ink.ink, ink.final, ink.chosen].map((color) => [color, new Path2D()]));
  const isDense = shown.length > DENSE;
  for (let index = findFrom(shown, view.from); index < shown.length; index++) {
    const packet = shown[index];
    // A packet after the view is drawn if its tool began to work within the view.
    if (packet === undefined || packet.atMs > view.to + (view.to - view.from)) break;
    const lane = lanes.get(packet.from);
    if (lane === undefined) continue;
    const isSelected = packet === selected;
    const work = findWork(packet);
    if (work.to > work.from && work.from <= view.to) {
      const pixels = Math.min(MAX_LANES - 1, Math.round((work.to - work.from) * layout.pixelsPerMs));
      const key = (Math.round(toX(work.from)) * MAX_LANES + lane) * MAX_LANES + pixels;
      if (isSelected || pixels === MAX_LANES - 1 || !bars.has(key))
        drawBar(context, layout, work, toY(lane), isSelected ? ink.chosen : ink.tool, ink.card);
      bars.add(key);
    }
    if (packet.atMs > view.to) continue;
    const ends = findEnds(packet);
    const isFinal = packet.tag === 'final_answer';
    const isTaken = ends[0] !== HUB;
    const color = isSelected ? ink.chosen : isFinal ? ink.final : isTaken ? ink.ink : ink.muted;
    const targets = ends.flatMap((node) => lanes.get(node) ?? []);
    const x = Math.round(toX(packet.atMs));
    for (const target of targets) {
      const key = (x * MAX_LANES + lane) * MAX_LANES + target;
      if (!isSelected && drawn.has(key)) continue;
      drawn.add(key);
      const path = arrows.get(color);
      if (target === lane) path?.arc(x, toY(lane), 3, 0, 2 * Math.PI);
      else if (path !== undefined) addArrow(path, x + 0.5, toY(lane), toY(target), isDense);
    }
    if (isDense) continue;
    const [target = 0] = targets;
    labels.push({
      packet,
      x,
      reach: [lane, ...targets].map(toY),
      // The name of the last packet stands at the head of its arrow, where no other name of its chain stands.
      y:
        (isFinal ? toY(target) + laneHeight / 2 : toY(lane) + (Math.sign(target - lane) * laneHeight) / 2) +
        4,
      color: isTaken && !isSelected ? ink.muted : color,
    });
  }
  for (const [color, path] of arrows) {
    context.strokeStyle = color;
    context.lineWidth = color === ink.chosen ? 2.4 : isDense ? 0.8 : 1.4;
    context.stroke(path);
  }
  drawLabels(context, layout, labels);
}

/** Draws the work of a tool, with its time if there is room for it. */
function drawBar(
  context: CanvasRenderingContext2D,
  { left, width, toX }: Layout,
  { from, to }: View,
  y: number,
  color: string,
  textColor: string,
): void {
  const [x1, x2] = [toX(from), toX(to)];
  context.fillStyle = color;
  context.beginPath();
  context.roundRect(x1, y - 8, Math.max(1.5, x2 - x1), 16, Math.min(4, (x2 - x1) / 2));
  context.fill();
  if (x2 - x1 <= 56) return;
  context.fillStyle = textColor;
  context.textAlign = 'center';
  context.fillText(formatMs(to - from), (Math.max(x1, left) + Math.min(x2, width)) / 2, y + 4);
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

/** The name of a packet beside its arrow, which stands at `x` between the lanes of `reach`. */
interface Label {
  readonly packet: ShownPacket;
  readonly x: number;
  readonly y: number;
  readonly reach: readonly number[];
  readonly color: string;
}

/** Writes names beside arrows where no other arrow or name stands. */
function drawLabels(
  context: CanvasRenderingContext2D,
  { left, width }: Layout,
  labels: readonly Label[],
): void {
  const taken = labels.map(({ x, reach }) => ({
    from: x,
    to: x + 1,
    top: Math.min(...reach),
    bottom: Math.max(...reach),
  }));
  for (const { packet, x, y, color } of labels) {
    const name = `${toLine(packet.type, 24)} ${formatBytes(packet.bytes)}`;
    const room = context.measureText(name).width;
    const isFree = (from: number) =>
      taken.every(
        ({ top, bottom, ...other }) =>
          y < top - 2 || y - 12 > bottom || other.to < from || other.from > from + room,
      );
    const sides = [x + 7, x - 7 - room].filter((from) => from >= left && from + room <= width);
    const from = sides.find(isFree);
    if (from === undefined) continue;
    taken.push({ from, to: from + room, top: y - 10, bottom: y });
    context.fillStyle = color;
    context.textAlign = 'left';
    context.fillText(name, from, y);
  }
}
