import type { RunEvent } from '@gaia-mesh/core/run/run-event.ts';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ReportData } from '../../report/page-data.ts';
import { computeMedian } from '../../statistics/inference/quantile.ts';
import { count } from '../../terminal/table.ts';
import { formatBytes, formatMs, toLine, UNKNOWN } from '../format.ts';
import { Card, type Fact, Facts, Notes, Title } from '../parts.tsx';
import { judgeAnswer, QuestionsCard } from '../questions.tsx';
import { type Column, createFigure, ResultTable } from '../result-table.tsx';
import { AgentsCard } from '../run/agents.tsx';
import { Packets } from '../run/packets.tsx';
import { LiveState } from './state.ts';

/** Minimum milliseconds between two drawings of the page during a run. */
const DRAW_EVERY_MS = 250;

/** The page of a running command, which shows its events and at the end its result. */
export function LivePage({
  title,
  showReport,
}: {
  readonly title: string;
  /** Shows the result at the end. */
  readonly showReport: (report: ReportData) => ComponentChildren;
}) {
  const { current: state } = useRef(new LiveState());
  const [, setDrawn] = useState(0);
  const [isConnected, setConnected] = useState(false);
  const [isPaused, setPaused] = useState(false);
  const [report, setReport] = useState<ReportData | string | null>(null);
  const isOver = state.end !== null;
  useEffect(
    () => (isPaused ? undefined : follow(state, setConnected, () => setDrawn((drawn) => drawn + 1))),
    [isPaused],
  );
  useEffect(() => {
    if (!isOver) return;
    askServer<ReportData>('report').then(setReport, (error: unknown) =>
      setReport(`The report cannot be shown: ${error}`),
    );
  }, [isOver]);
  if (report !== null && typeof report !== 'string') return <>{showReport(report)}</>;
  const status = `${isPaused ? 'paused' : (state.end ?? (isConnected ? 'running' : 'not connected'))} · ${formatProgress(state)}`;
  return (
    <>
      <Title
        title={state.run === null ? title : `${title}: ${nameRun(state.run)}`}
        tab={`${status} · ${title}`}
        lede={
          <>
            <span role="status">{status}</span>{' '}
            {isOver ? null : (
              <button type="button" onClick={() => setPaused(!isPaused)}>
                {isPaused ? 'Follow' : 'Pause'}
              </button>
            )}
          </>
        }
      />
      {report === null ? null : <Notes isAlarm texts={[report]} />}
      <Facts facts={listFacts(state)} />
      <div class="grid">
        <Cards state={state} />
      </div>
    </>
  );
}

function Cards({ state }: { readonly state: LiveState }) {
  const [task, setTask] = useState<string | null>(null);
  const { run, packets, agents, arms, workers, news } = state;
  const ask = (what: string, query: Readonly<Record<string, string>>) =>
    askServer<string>(what, { run: run?.run_id ?? '', ...query });
  return (
    <>
      {arms.size === 0 ? null : <ArmsCard arms={arms} />}
      {state.questions.size === 0 ? null : (
        <QuestionsCard
          teams={[run?.team ?? '']}
          rows={state.listQuestions()}
          about="The latest first. Open one to read its reasoning, and to see its packets below."
          opened={task}
          onOpen={setTask}
          load={(question) => ask('reasoning', { question })}
          atFirst={8}
        />
      )}
      {packets.length === 0 ? null : (
        <Packets
          traffic={{
            agents: [...agents.values()].filter(({ id }) => id !== 'hub'),
            packets: [...packets],
            isTimed: true,
          }}
          task={task}
          onTask={setTask}
          load={({ from, id }) => ask('packet', { from, id })}
          isLive
        />
      )}
      <AgentsCard rows={[...agents.values()]} load={(agent) => ask('log', { agent })} />
      {workers === null ? null : <WorkersCard workers={workers} />}
      {news.length === 0 ? null : <NewsCard news={news} />}
    </>
  );
}

/** Requests a value from the server of the page; the value is null if the server does not know it. */
async function askServer<Answer>(
  what: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Answer | null> {
  const response = await fetch(`${what}?${new URLSearchParams(query)}`);
  const value = await response.json();
  if (!response.ok) throw new Error(value.error ?? `status ${response.status}`);
  return value;
}

/** Follows the stream of events, without those that are known already. Returns a function that closes the stream. */
function follow(state: LiveState, onConnection: (is: boolean) => void, draw: () => void): () => void {
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
    state.add(JSON.parse(data) as RunEvent[]);
    drawSoon();
  });
  return () => {
    stream.close();
    clearTimeout(waiting);
  };
}

/** Formats a moment of a run as `1:02.345`. */
function formatClock(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return `${minutes}:${(ms / 1000 - 60 * minutes).toFixed(3).padStart(6, '0')}`;
}

function nameRun({ team, adapter, engine }: RunEvent<'run_began'>): string {
  // Recorded traffic without an engine is named without one.
  const names = [team, adapter, ...(engine === 'none' ? [] : [engine])];
  return names.map((name) => toLine(name, 80)).join(', ');
}

function formatProgress({ run, questions, progress, at, missed }: LiveState): string {
  const ended = [...questions.values()].filter(({ end }) => end !== null).length;
  const all = run?.questions ?? questions.size;
  const share =
    progress === null ? formatClock(at) : `${Math.round(100 * progress.share)} %, ${progress.text}`;
  const done = all > 0 ? `${count(ended)} of ${count(all)} questions` : share;
  return missed === 0 ? done : `${done}; ${count(missed)} events came too late for this page`;
}

function listFacts(state: LiveState): Fact[] {
  const { run, agents, questions, totals, faults } = state;
  const time = {
    name: 'Time',
    value: formatClock(state.runMs),
    explain: 'Minutes and seconds since the run began.',
  };
  // A comparison has neither agents nor questions; its figures are in a table of their own.
  if (agents.size === 0 && questions.size === 0) return [time];
  const verdicts = Map.groupBy(state.listQuestions(), ({ answers: [own] }) =>
    own === undefined ? '' : judgeAnswer({ ...own, cached: undefined }),
  );
  const sum = (...words: readonly string[]) =>
    words.reduce((all, word) => all + (verdicts.get(word)?.length ?? 0), 0);
  const [right, scored] = [sum('right'), sum('right', 'wrong')];
  const cost = state.sumCosts();
  return [
    time,
    {
      name: 'Answered',
      value: `${count(scored + sum('answered'))} of ${count(run?.questions ?? questions.size)}`,
      explain: 'Questions with an answer, of all that the team is asked.',
    },
    {
      name: 'Right',
      value: scored === 0 ? UNKNOWN : `${count(right)} of ${count(scored)}`,
      explain: 'Right answers, of those whose true answer is known.',
    },
    {
      name: 'Packets of agents',
      value: count(totals.packets),
      note: totals.unshown === 0 ? undefined : `${count(totals.unshown)} counted only`,
      explain: 'Exact; of a flood the list shows a sample.',
    },
    {
      name: 'Bytes received',
      value: formatBytes(totals.bytes),
      explain: 'Frames of packets that the hub read from agents.',
    },
    {
      name: 'Tokens',
      value: count(totals.tokens),
      note: cost === undefined ? undefined : cost === null ? 'cost not known' : `$${cost.toFixed(4)}`,
      explain: 'Tokens that agents reported with their packets; the cost is by the prices of the models.',
    },
    {
      name: 'Faults',
      value: [...faults].map(([what, times]) => `${what} ${count(times)}`).join(', ') || 'none',
      explain: 'Faults that were planted or happened, by kind; all are counted.',
    },
  ];
}

type WorkerState = NonNullable<LiveState['workers']>[number];

function WorkersCard({ workers }: { readonly workers: readonly WorkerState[] }) {
  const columns: Column<WorkerState>[] = [
    { header: 'worker', isText: true, value: ({ id }) => toLine(id, 60) },
    { header: 'slots', value: ({ slots }) => slots, explain: 'questions that it answers at once' },
    { header: 'running', value: ({ running }) => running, explain: 'questions that it is answering' },
    {
      header: 'finished',
      value: ({ done }) => done,
      explain: 'questions that it has answered since it started, of all batches',
    },
  ];
  return (
    <Card title="Workers" id="workers" nav="Workers">
      <ResultTable label="Workers" rows={workers} columns={columns} />
    </Card>
  );
}

function NewsCard({ news }: Pick<LiveState, 'news'>) {
  const columns: Column<LiveState['news'][number]>[] = [
    { header: 'at', value: ({ at }) => formatClock(at) },
    { header: 'what happened', isText: true, value: ({ text }) => toLine(text, 300) },
  ];
  return (
    <Card title="Faults and notes" id="news" nav="Faults and notes">
      <ResultTable label="Faults and notes" rows={news} columns={columns} atFirst={10} />
    </Card>
  );
}

/** The results of a comparison so far. */
function ArmsCard({ arms }: Pick<LiveState, 'arms'>) {
  const rows = [...arms].map(([name, { ms, ...arm }]) => ({
    ...arm,
    name,
    median: ms.length === 0 ? null : computeMedian(ms),
  }));
  const columns: Column<(typeof rows)[number]>[] = [
    { header: 'arm', value: ({ name }) => toLine(name, 80) },
    { header: 'samples', value: (arm) => arm.count, explain: 'invocations that are over' },
    createFigure(
      'median',
      ({ median }) => median,
      formatMs,
      'time of a task or an exchange, as the median of the invocations so far',
    ),
    { header: 'bytes', value: ({ bytes }) => bytes, explain: 'exact bytes of the traffic' },
  ];
  return (
    <Card title="Measured so far" id="arms" nav="Measured so far">
      <ResultTable label="Measured so far" rows={rows} columns={columns} />
    </Card>
  );
}
