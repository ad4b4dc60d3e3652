import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ShownPacket } from '../report/page-data.ts';
import { createPicture, type LanesContent, type View } from './draw-lanes.ts';
import { formatBytes, formatMs, toLine } from './format.ts';

/** The shortest time that a view can show, in milliseconds. */
const SHORTEST_MS = 0.02;

interface LanesProps extends LanesContent {
  readonly onSelect: (packet: ShownPacket) => void;
}

/** The packets of nodes over time, one lane a node, with zoom. */
export function Lanes(props: LanesProps) {
  const { names, shown, selected, onSelect } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const whole = findWhole(shown);
  const [view, setView] = useState<View>(whole);
  const [pointed, setPointed] = useState<{ packet: ShownPacket; x: number; y: number } | null>(null);
  const drag = useRef<{ x: number; view: View; isMoved: boolean } | null>(null);
  const picture = createPicture(width, view, props);

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
    if (!isFirst.current) setView(whole);
    isFirst.current = false;
  }, [shown]);
  useLayoutEffect(() => {
    if (canvas.current !== null && width > 0) picture.draw(canvas.current);
  }, [width, view, shown, selected]);
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => setView((now) => ({ ...now }));
    scheme.addEventListener('change', redraw);
    return () => scheme.removeEventListener('change', redraw);
  }, []);

  const move = (to: View) => setView(clampView(to, whole));
  const zoom = (factor: number) => move(center((view.to - view.from) * factor, (view.from + view.to) / 2));
  const step = (by: number) => {
    const at = selected === null ? -1 : shown.indexOf(selected);
    const next = shown[Math.min(shown.length - 1, Math.max(0, at + by))];
    if (next === undefined) return;
    onSelect(next);
    if (next.atMs < view.from || next.atMs > view.to) move(center(view.to - view.from, next.atMs));
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    '+': () => zoom(0.5),
    '-': () => zoom(2),
    '0': () => setView(whole),
  };
  const isWhole = view.from <= whole.from && view.to >= whole.to;
  const describe = (packet: ShownPacket) =>
    `${toLine(packet.type, 60)} of ${names.get(packet.from) ?? toLine(packet.from, 60)}, ${formatBytes(packet.bytes)}, at ${formatMs(packet.atMs)}`;
  return (
    <div>
      <div class="tools">
        <button type="button" aria-label="Zoom in" onClick={() => zoom(0.5)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" disabled={isWhole} onClick={() => zoom(2)}>
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
          aria-label={`${shown.length} packets between ${names.size} nodes over time; arrow keys go from one to the next${selected === null ? '' : `. Selected: ${describe(selected)}`}`}
          style={{ height: `${picture.height}px` }}
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
            if (began === null || event.buttons === 0) {
              const packet = picture.find(event.offsetX, event.offsetY);
              setPointed(packet === null ? null : { packet, x: event.offsetX, y: event.offsetY });
              return;
            }
            const moved = event.offsetX - began.x;
            if (Math.abs(moved) > 4) began.isMoved = true;
            if (!began.isMoved) return;
            const ms = moved / picture.pixelsPerMs;
            move({ from: began.view.from - ms, to: began.view.to - ms });
          }}
          onPointerUp={(event) => {
            const isClick = drag.current?.isMoved === false;
            drag.current = null;
            const packet = isClick ? picture.find(event.offsetX, event.offsetY) : null;
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
            {describe(pointed.packet)}
          </div>
        )}
      </div>
    </div>
  );
}

/** Returns the view that shows all packets and the work of their tools. */
function findWhole(shown: readonly ShownPacket[]): View {
  const [first] = shown;
  const last = shown.at(-1);
  if (first === undefined || last === undefined) return { from: 0, to: 1 };
  const from = first.atMs - (first.afterToolMs ?? 0) - (first.toolMs ?? 0);
  const span = Math.max(SHORTEST_MS, last.atMs - from);
  return { from: from - span * 0.02, to: from + span * 1.06 };
}

function center(span: number, middle: number): View {
  const half = Math.max(SHORTEST_MS, span) / 2;
  return { from: middle - half, to: middle + half };
}

function clampView({ from, to }: View, whole: View): View {
  const span = to - from;
  if (span >= whole.to - whole.from) return whole;
  const start = Math.min(Math.max(from, whole.from), whole.to - span);
  return { from: start, to: start + span };
}
