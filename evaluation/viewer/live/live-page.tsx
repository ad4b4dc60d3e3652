import type { RunEvent } from '@gaia-mesh/core/run/run-event.ts';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ReportData, RunPlace } from '../../report/page-data.ts';
import {
  formatBytes,
  formatClock,
  formatCount,
  formatMs,
  formatSeconds,
  showHidden,
  toLine,
  UNKNOWN,
} from '../format.ts';
import { type Flow, Lanes } from '../lanes.tsx';
import { Badge, Card, type Fact, Facts, Notes, Part, Select, Title, type Tone } from '../parts.tsx';
import { Report } from '../report.tsx';
import { type Column, createCount, ResultTable } from '../result-table.tsx';
import { askServer, Opened } from './opened.tsx';
import {
  type AgentState,
  type Asked,
  formatPlace,
  judgeQuestion,
  LiveHistory,
  type LiveState,
  type News,
  type PacketEvent,
  type Place,
  readPlace,
  scoreQuestions,
  toNews,
} from './state.ts';

/** While a run goes on the page is drawn as often as this, at most. */
const DRAW_EVERY_MS = 250;
/** Packets that are drawn and listed; the time line leads to the others. */
const MAX_PACKETS = 1000;
const MAX_NEWS = 120;
const MAX_CHOICES = 200;

/** A run that is on, or over: what happens in it, and in the end its report. */
export function LivePage({ page }: { readonly page: RunPlace }) {
  const history = useRef(new LiveHistory());
  const [, setDrawn] = useState(0);
  const [isConnected, setConnected] = useState(false);
  const [place, setPlace] = useState(readPlace);
  const [report, setReport] = useState<ReportData | string | null>(null);
  useEffect(() => follow(history.current, setConnected, () => setDrawn((drawn) => drawn + 1)), []);
  const { now, lastMs, events } = history.current;
  const isOver = now.end !== null;
  useEffect(() => {
    if (!isOver) return;
    askServer('report').then(
      (data) => setReport(data as ReportData | null),
      (error: unknown) => setReport(`The report cannot be shown: ${error}`),
    );
  }, [isOver]);
  const change = (part: Partial<Place>) => setPlace((before) => ({ ...before, ...part }));
  useEffect(() => globalThis.history.replaceState(null, '', formatPlace(place)), [place]);
  useEffect(() => {
    const read = () => setPlace(readPlace());
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  const pause = () => change({ at: place.at === null ? lastMs : null });
  useKeys({ p: pause, Escape: () => change({ open: '' }) });

  const state = place.at === null ? now : history.current.stateAt(place.at);
  const count = place.at === null ? events.length : history.current.countUpTo(place.at);
  const status = formatStatus(history.current, isConnected);
  const title = state.run === null ? page.title : `${page.title}: ${nameRun(state)}`;
  useEffect(() => {
    if (!page.isListed) document.title = `${status} · ${page.title}`;
  }, [status, page]);
  const packets = listPackets(history.current, count, place);
  const news = listNews(history.current, count);
  const open = (what: string, part: Partial<Place> = {}) =>
    change({ open: what, at: place.at ?? lastMs, ...part });
  const questions = [...state.questions.values()].reverse();
  const live = (
    <>
      <Facts facts={listFacts(state)} />
      <TimeLine
        history={history.current}
        place={place}
        onMoment={(at) => change({ at })}
        onPause={pause}
        isOver={isOver}
      />
      <Opened what={place.open} state={state} isOver={isOver} onClose={() => change({ open: '' })} />
      <div class="grid">
        {state.arms.size === 0 ? null : <ArmsCard state={state} />}
        {state.agents.size === 0 ? null : (
          <PacketsCard
            packets={packets}
            state={state}
            types={history.current.types}
            place={place}
            onChange={change}
            onOpen={({ from, id, at }) => open(`packet:${from}:${id}`, { at: place.at ?? at })}
          />
        )}
        {state.questions.size === 0 ? null : (
          <Card size="half" title="Questions" id="questions" nav="Questions">
            <QuestionTable questions={questions} onOpen={(id) => open(`question:${id}`, { question: id })} />
          </Card>
        )}
        {state.agents.size === 0 ? null : (
          <Card size="half" title="Agents" id="agents" nav="Agents">
            <AgentTable
              state={state}
              place={place}
              onFilter={(agent) => change({ agent })}
              onLog={(id) => open(`log:${id}`)}
            />
          </Card>
        )}
        {state.workers === null ? null : (
          <Card size="half" title="Workers" id="workers" nav="Workers">
            <WorkerTable workers={state.workers} />
          </Card>
        )}
        {news.length === 0 ? null : (
          <Card title="Faults and notes" id="news" nav="Faults and notes">
            <NewsTable news={news} onMoment={(at) => change({ at })} />
          </Card>
        )}
      </div>
    </>
  );
  const result =
    typeof report === 'string' ? (
      <Notes isAlarm texts={[report]} />
    ) : report === null ? null : (
      <section id="final-report" aria-label="Report">
        <Report report={report} isInPage={!page.isListed} />
      </section>
    );
  const hasEvents = state.agents.size + state.questions.size > 0;
  // A finished run begins with its answer, a running one with its state.
  if (page.isListed)
    return (
      <>
        <a href="../../">All runs and comparisons</a>
        {result ?? <p class="about">Loading …</p>}
        {hasEvents ? (
          <Part id="replay" name="Replay" isAlone={false}>
            <Title isFirst={false} title={`Replay: ${nameRun(state)}`} lede={status} />
            {live}
          </Part>
        ) : null}
      </>
    );
  return (
    <>
      <Part id="live" name="Live" isAlone={report === null}>
        <Title isFirst title={title} lede={status} />
        <p class="unseen" role="status">
          {isOver ? status : place.at === null ? '' : 'paused'}
        </p>
        {live}
      </Part>
      {result}
    </>
  );
}

/** Follows the stream of events; returns a function that leaves it. */
function follow(history: LiveHistory, onConnection: (is: boolean) => void, draw: () => void): () => void {
  let drawnMs = 0;
  let waiting: number | undefined;
  const drawSoon = () => {
    waiting ??= window.setTimeout(
      () => {
        waiting = undefined;
        drawnMs = performance.now();
        draw();
      },
      Math.max(0, drawnMs + DRAW_EVERY_MS - performance.now()),
    );
  };
  const stream = new EventSource('events');
  stream.addEventListener('open', () => onConnection(true));
  stream.addEventListener('error', () => onConnection(false));
  stream.addEventListener('message', ({ data }) => {
    history.add(JSON.parse(data) as RunEvent[]);
    drawSoon();
  });
  return () => {
    stream.close();
    clearTimeout(waiting);
  };
}

function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const act = (event: KeyboardEvent) => {
      const { target } = event;
      if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) {
        if (event.key === 'Escape') target.blur();
        return;
      }
      if (!event.ctrlKey && !event.metaKey && !event.altKey) keys[event.key]?.();
    };
    addEventListener('keydown', act);
    return () => removeEventListener('keydown', act);
  });
}

function nameRun({ run }: LiveState): string {
  if (run === null) return '';
  // Traffic that no engine took part in names none.
  const names = [run.team, run.adapter, ...(run.engine === 'none' ? [] : [run.engine])];
  return names.map((name) => toLine(name, 80)).join(', ');
}

function formatStatus({ now, missed }: LiveHistory, isConnected: boolean): string {
  const { ended } = scoreQuestions(now);
  const of = now.run?.questions ?? now.questions.size;
  const share =
    now.progress === null || now.end !== null
      ? formatClock(now.at)
      : `${Math.round(100 * now.progress.share)} %, ${now.progress.text}`;
  const done = of > 0 ? `${formatCount(ended)} of ${formatCount(of)} questions` : share;
  const late = missed === 0 ? '' : `; ${formatCount(missed)} events came too late for this page`;
  const word = now.end ?? (isConnected ? 'running' : 'not connected');
  return `${word} · ${done}${late}`;
}

function listFacts(state: LiveState): Fact[] {
  const { run, agents, questions, totals, faults, at } = state;
  const time = {
    name: 'Time',
    value: formatClock(run === null ? at : at - run.at),
    explain: 'Minutes and seconds since the run began.',
  };
  // A comparison has neither; its figures are in a table of their own.
  if (agents.size === 0 && questions.size === 0) return [time];
  const score = scoreQuestions(state);
  const { packets, bytes, tokens, unshown } = totals;
  const money = !score.isCostKnown ? 'not known' : `$${score.cost.toFixed(score.cost < 1 ? 4 : 2)}`;
  const struck = [...faults].map(([what, times]) => `${what} ${formatCount(times)}`).join(', ');
  return [
    time,
    {
      name: 'Answered',
      value: `${formatCount(score.answered)} of ${formatCount(run?.questions ?? questions.size)}`,
      explain: 'Questions with an answer, of all that the team is asked.',
    },
    {
      name: 'Right',
      value: score.scored === 0 ? UNKNOWN : `${formatCount(score.right)} of ${formatCount(score.scored)}`,
      explain: 'Right answers, of those whose true answer is known.',
    },
    {
      name: 'Packets of agents',
      value: formatCount(packets),
      note: unshown === 0 ? undefined : `${formatCount(unshown)} counted only`,
      explain: 'Exact; of a flood the list shows a sample.',
    },
    {
      name: 'Bytes received',
      value: formatBytes(bytes),
      explain: 'Frames of packets that the hub read from agents.',
    },
    {
      name: 'Tokens',
      value: formatCount(tokens),
      note: score.priced === 0 ? undefined : money,
      explain: 'Tokens that agents reported with their packets; the cost is by the prices of the models.',
    },
    {
      name: 'Faults',
      value: struck === '' ? 'none' : struck,
      explain: 'Faults that were planted or happened, by kind; all are counted.',
    },
  ];
}

function listPackets({ events }: LiveHistory, count: number, place: Place): PacketEvent[] {
  const shown: PacketEvent[] = [];
  for (let index = count - 1; index >= 0 && shown.length < MAX_PACKETS; index--) {
    const event = events[index];
    // The packets of another run are of other agents.
    if (event?.event === 'run_began') break;
    if ((event?.event === 'packet' || event?.event === 'broadcast') && passesFilters(event, place))
      shown.push(event);
  }
  return shown;
}

function passesFilters(packet: PacketEvent, { agent, type, question, text }: Place): boolean {
  if (agent !== '' && packet.from !== agent && packet.to !== agent) return false;
  if (type !== '' && packet.type !== type) return false;
  if (question !== '' && packet.task_id !== question) return false;
  const low = text.toLowerCase();
  const { id, from, to = '', tag = '', task_id } = packet;
  return (
    low === '' || [id, from, to, packet.type, tag, task_id].some((part) => part.toLowerCase().includes(low))
  );
}

function listNews({ events }: LiveHistory, count: number): News[] {
  const shown: News[] = [];
  for (let index = count - 1; index >= 0 && shown.length < MAX_NEWS; index--) {
    const event = events[index];
    const news = event === undefined ? undefined : toNews(event);
    if (news !== undefined) shown.push(news);
  }
  return shown;
}

interface TimeLineProps {
  readonly history: LiveHistory;
  readonly place: Place;
  readonly onMoment: (at: number | null) => void;
  readonly onPause: () => void;
  readonly isOver: boolean;
}

const BUCKETS = 120;

/** The run as a strip of packets and faults over time, and a slider that goes to any moment of it. */
function TimeLine({ history, place, onMoment, onPause, isOver }: TimeLineProps) {
  const { beganMs, lastMs, now } = history;
  const at = place.at ?? lastMs;
  const bars = useMemo(() => countBuckets(history), [history, lastMs]);
  const most = Math.max(1, ...bars.map(({ packets }) => packets));
  const chosen = history.countUpTo(at);
  const current = history.events.slice(0, chosen).filter(({ event }) => event === 'run_began').length - 1;
  const moveBy = (event: KeyboardEvent) => {
    const ways: Readonly<Record<string, number>> = {
      ArrowLeft: -1,
      ArrowRight: 1,
      PageDown: -10,
      PageUp: 10,
    };
    const way = ways[event.key];
    if (way === undefined) return;
    event.preventDefault();
    onMoment(Math.min(lastMs, Math.max(beganMs, at + (way * (lastMs - beganMs)) / 200)));
  };
  return (
    <div class="time-line">
      <div class="tools">
        <button type="button" aria-keyshortcuts="p" onClick={onPause}>
          {place.at === null ? (isOver ? 'At the end' : 'Pause') : isOver ? 'To the end' : 'Follow'}
        </button>
        <span class="moment">{formatClock(at)}</span>
        {now.runs.length < 2 ? null : (
          <Select
            label="Run"
            value={String(current)}
            options={now.runs.map(({ team, adapter, run_id }, index): [string, string] => [
              String(index),
              `${team} · ${adapter} · ${run_id}`,
            ])}
            onChange={(index) => {
              const next = now.runs[Number(index) + 1];
              const run = now.runs[Number(index)];
              if (run !== undefined) onMoment(next === undefined ? null : Math.max(run.at, next.at - 0.001));
            }}
          />
        )}
        <a href={formatPlace({ ...place, at })}>link to this moment</a>
      </div>
      <svg class="strip" viewBox={`0 0 ${BUCKETS} 36`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map(({ packets, isFault }, x) => (
          <g key={x}>
            <rect x={x + 0.1} width={0.8} y={36 - (packets / most) * 30} height={(packets / most) * 30} />
            {isFault ? <rect class="fault" x={x} width={1} y={0} height={4} /> : null}
          </g>
        ))}
      </svg>
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={formatClock(at)}
        min={beganMs}
        max={lastMs}
        step="any"
        value={at}
        onInput={({ currentTarget }) => {
          const value = Number(currentTarget.value);
          onMoment(value >= lastMs ? null : value);
        }}
        onKeyDown={moveBy}
      />
    </div>
  );
}

function countBuckets({ events, beganMs, lastMs }: LiveHistory) {
  const bars = Array.from({ length: BUCKETS }, () => ({ packets: 0, isFault: false }));
  const span = Math.max(lastMs - beganMs, 1e-6);
  let before = 0;
  for (const event of events) {
    const bar = bars[Math.min(BUCKETS - 1, Math.floor(((event.at - beganMs) / span) * BUCKETS))];
    if (bar === undefined) continue;
    if (event.event === 'run_began') before = 0;
    if (event.event === 'totals') {
      bar.packets += Math.max(0, event.packets - before);
      before = event.packets;
    } else if (event.event !== 'note' && toNews(event) !== undefined) bar.isFault = true;
  }
  return bars;
}

interface PacketsCardProps {
  readonly packets: readonly PacketEvent[];
  readonly state: LiveState;
  readonly types: ReadonlySet<string>;
  readonly place: Place;
  readonly onChange: (part: Partial<Place>) => void;
  readonly onOpen: (packet: PacketEvent) => void;
}

function PacketsCard({ packets, state, types, place, onChange, onOpen }: PacketsCardProps) {
  const { agents, questions } = state;
  const nameOf = (id: string) => toLine(`${id} ${agents.get(id)?.tool ?? ''}`, 60);
  const choices = (names: Iterable<string>, chosen: string): [string, string][] => {
    const all = [...new Set([...names, ...(chosen === '' ? [] : [chosen])])].slice(-MAX_CHOICES);
    return [['', 'all'], ...all.map((name): [string, string] => [name, name])];
  };
  const isFiltered = [place.agent, place.type, place.question, place.text].some((part) => part !== '');
  const columns: Column<PacketEvent>[] = [
    {
      header: 'packet',
      value: ({ type }) => toLine(type, 64),
      cell: ({ type, tag }) => (
        <>
          {toLine(type, 64)}
          {tag === undefined ? null : <Badge tone="good">{toLine(tag, 40)}</Badge>}
        </>
      ),
    },
    {
      header: 'at',
      isNumber: true,
      value: ({ at }) => at,
      format: formatClock,
      explain: 'Minutes and seconds since the first event, by the hub’s clock.',
    },
    { header: 'from', value: ({ from }) => nameOf(from) },
    {
      header: 'to',
      isWide: true,
      value: ({ to, recipients }) => (to === undefined ? `all ${recipients}` : nameOf(to)),
    },
    createCount('bytes', ({ bytes }) => bytes, 'Its frame, as the sender wrote it.'),
    {
      ...createCount(
        'tokens',
        ({ token_used }) => token_used || null,
        'Tokens that its sender reported with it.',
      ),
      isWide: true,
    },
    { header: 'question', isWide: true, value: ({ task_id }) => toLine(task_id, 60) },
  ];
  return (
    <Card
      title="Packets"
      id="packets"
      nav="Packets"
      about={packets.length > 0 ? undefined : isFiltered ? 'No packet passes the filters.' : 'No packet yet.'}
    >
      <div class="tools">
        <Select
          label="Agent"
          value={place.agent}
          options={choices(agents.keys(), place.agent)}
          onChange={(agent) => onChange({ agent })}
        />
        <Select
          label="Type"
          value={place.type}
          options={choices(types, place.type)}
          onChange={(type) => onChange({ type })}
        />
        <Select
          label="Question"
          value={place.question}
          options={choices(questions.keys(), place.question)}
          onChange={(question) => onChange({ question })}
        />
        <label class="field">
          Text
          <input
            type="search"
            maxLength={100}
            value={place.text}
            onInput={({ currentTarget }) => onChange({ text: currentTarget.value })}
          />
        </label>
        {isFiltered ? (
          <button type="button" onClick={() => onChange({ agent: '', type: '', question: '', text: '' })}>
            Clear
          </button>
        ) : null}
      </div>
      {packets.length === 0 ? null : (
        <>
          <LiveLanes packets={packets} state={state} onOpen={onOpen} />
          <ResultTable
            label="Packets"
            rows={packets}
            columns={columns}
            onOpen={onOpen}
            hasFilter={false}
            atFirst={20}
          />
        </>
      )}
    </Card>
  );
}

interface LiveLanesProps {
  readonly packets: readonly PacketEvent[];
  readonly state: LiveState;
  readonly onOpen: (packet: PacketEvent) => void;
}

/** The latest packets over time. */
function LiveLanes({ packets, state, onOpen }: LiveLanesProps) {
  const [last] = packets;
  const drawn = useMemo(() => {
    const ordered = packets.toReversed();
    const ids = [...new Set(['hub', ...state.agents.keys(), ...ordered.map(({ from }) => from)])];
    const types = [...new Set(ordered.map(({ type }) => type))];
    const start = ordered[0]?.at ?? 0;
    const flow: Flow = {
      nodes: ids.map((id) => ({ id, label: `${id} ${state.agents.get(id)?.tool ?? ''}`.trim() })),
      types,
      at: ordered.map(({ at }) => Math.round((at - start) * 1000)),
      from: ordered.map(({ from }) => ids.indexOf(from)),
      type: ordered.map(({ type }) => types.indexOf(type)),
      bytes: ordered.map(({ bytes }) => bytes),
      tool: ordered.map(() => 0),
      afterTool: ordered.map(() => 0),
    };
    const ends = ordered.map(({ from, to }) =>
      to !== undefined ? [ids.indexOf(to)] : from === 'hub' ? ids.slice(1).map((_, index) => index + 1) : [],
    );
    return { flow, ends, ordered, shown: ordered.map((_, index) => index) };
  }, [last?.n, packets.length]);
  return (
    <Lanes
      flow={drawn.flow}
      shown={drawn.shown}
      ends={(packet) => drawn.ends[packet] ?? []}
      isFinal={(packet) => drawn.ordered[packet]?.tag === 'final_answer'}
      selected={null}
      onSelect={(packet) => {
        const chosen = drawn.ordered[packet];
        if (chosen !== undefined) onOpen(chosen);
      }}
    />
  );
}

const TONES: Readonly<Record<string, Tone>> = {
  right: 'good',
  wrong: 'bad',
  failed: 'bad',
  'out of time': 'bad',
  gone: 'bad',
  up: 'good',
};

function QuestionTable({
  questions,
  onOpen,
}: {
  readonly questions: readonly Asked[];
  readonly onOpen: (id: string) => void;
}) {
  const columns: Column<Asked>[] = [
    { header: 'question', value: ({ id }) => toLine(id, 60) },
    {
      header: 'verdict',
      value: judgeQuestion,
      cell: (question) => (
        <Badge tone={TONES[judgeQuestion(question)] ?? 'plain'}>{judgeQuestion(question)}</Badge>
      ),
    },
    { header: 'asked', isText: true, isWide: true, value: ({ text }) => toLine(text, 120) },
    { header: 'answer', isText: true, value: ({ end }) => toLine(end?.answer ?? end?.reason ?? '', 120) },
    {
      header: 'time',
      isNumber: true,
      value: ({ end }) => end?.elapsed_ms ?? null,
      explain: 'From the broadcast of the question to its answer, by the hub’s clock.',
      format: (ms) => (ms < 10_000 ? formatMs(ms) : formatSeconds(ms / 1000)),
    },
  ];
  return (
    <ResultTable
      label="Questions"
      rows={questions}
      columns={columns}
      onOpen={({ id }) => onOpen(id)}
      atFirst={20}
    />
  );
}

interface AgentTableProps {
  readonly state: LiveState;
  readonly place: Place;
  readonly onFilter: (agent: string) => void;
  readonly onLog: (agent: string) => void;
}

function AgentTable({ state, place, onFilter, onLog }: AgentTableProps) {
  const columns: Column<AgentState>[] = [
    { header: 'agent', value: ({ id, tool }) => toLine(`${id} ${tool}`, 60) },
    {
      header: 'state',
      value: (agent) => agent.state,
      cell: (agent) => <Badge tone={TONES[agent.state] ?? 'plain'}>{agent.state}</Badge>,
      explain: 'Where it listens, or why it is gone, stands in its log.',
    },
    createCount('packets', ({ packets }) => packets, 'Packets that the hub received from it.'),
    createCount('bytes', ({ bytes }) => bytes, 'Frames of these packets.'),
    {
      ...createCount('tokens', ({ tokens }) => tokens, 'Tokens that it reported with its packets.'),
      isWide: true,
    },
    {
      header: 'log',
      value: () => '',
      cell: ({ id }) => (
        <button type="button" class="quiet" aria-label={`Log of ${showHidden(id)}`} onClick={() => onLog(id)}>
          Log
        </button>
      ),
    },
  ];
  const rows = [...state.agents.values()];
  return (
    <ResultTable
      label="Agents"
      rows={rows}
      columns={columns}
      opened={rows.find(({ id }) => id === place.agent)}
      onOpen={({ id }) => onFilter(id === place.agent ? '' : id)}
    />
  );
}

type WorkerState = NonNullable<LiveState['workers']>[number];

function WorkerTable({ workers }: { readonly workers: readonly WorkerState[] }) {
  const columns: Column<WorkerState>[] = [
    { header: 'worker', isText: true, value: ({ id }) => toLine(id, 60) },
    createCount('slots', ({ slots }) => slots, 'Questions that it answers at once.'),
    createCount('running', ({ running }) => running, 'Questions that it is answering.'),
    createCount(
      'finished',
      ({ done }) => done,
      'Questions that it has answered since it started, of all batches.',
    ),
  ];
  return <ResultTable label="Workers" rows={workers} columns={columns} />;
}

function NewsTable({
  news,
  onMoment,
}: {
  readonly news: readonly News[];
  readonly onMoment: (at: number) => void;
}) {
  const columns: Column<News>[] = [
    { header: 'at', value: ({ at }) => formatClock(at) },
    { header: 'kind', value: ({ kind }) => kind },
    { header: 'what happened', isText: true, value: ({ text }) => toLine(text, 300) },
  ];
  return (
    <ResultTable
      label="Faults and notes"
      rows={news}
      columns={columns}
      onOpen={({ at }) => onMoment(at)}
      atFirst={10}
    />
  );
}

/** The results of a comparison so far. */
function ArmsCard({ state }: { readonly state: LiveState }) {
  const rows = [...state.arms].map(([name, { count, ms, bytes }]) => {
    const sorted = ms.toSorted((a, b) => a - b);
    return { name, count, median: sorted[Math.floor(sorted.length / 2)] ?? null, bytes };
  });
  type Row = (typeof rows)[number];
  const columns: Column<Row>[] = [
    { header: 'arm', value: ({ name }) => toLine(name, 80) },
    createCount('samples', ({ count }) => count, 'Invocations that are over.'),
    {
      header: 'median',
      isNumber: true,
      value: ({ median }) => median,
      format: formatMs,
      explain: 'Time of a task or an exchange, as the median of the invocations so far.',
    },
    createCount('bytes', ({ bytes }) => bytes, 'Exact bytes of the traffic.'),
  ];
  return (
    <Card title="Measured so far" id="arms" nav="Measured so far">
      <ResultTable label="Measured so far" rows={rows} columns={columns} />
    </Card>
  );
}
