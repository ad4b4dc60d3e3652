import { useMemo, useState } from 'preact/hooks';
import type { RunData } from '../../report/page-data.ts';
import { buildHopTable } from '../../results/tables/hop-columns.ts';
import { count, formatDecimals, formatNetwork, formatPercent } from '../../terminal/table.ts';
import { Bar, LegendBar } from '../chart.tsx';
import { formatBytes, formatCounted, formatMs, toLine, UNKNOWN } from '../format.ts';
import { Below, Card, type Fact, Facts, Notes, Title, Trace } from '../parts.tsx';
import { judgeAnswer, type QuestionRow, QuestionsCard, sortQuestions } from '../questions.tsx';
import { type Column, ResultTable, readTone } from '../result-table.tsx';
import { AgentsCard } from './agents.tsx';
import { Packets } from './packets.tsx';

/** The page of a run: its answer, its packets, and its time and bytes by purpose. */
export function RunPage({ run }: { readonly run: RunData }) {
  const { metrics, made, warnings, notes, traffic } = run;
  const [task, setTask] = useState<string | null>(null);
  const questions = useMemo(() => listQuestions(run), [run]);
  const logs = new Map(run.logs.agents.map(({ id, text }) => [id, text]));
  const [only] = run.tasks;
  return (
    <>
      <Title
        title={formatTitle(run)}
        lede={metrics.tasks > 1 || only?.question == null ? undefined : toLine(only.question, 400)}
        command={made.command}
        when={made.startedAt}
        made={[
          [`team ${metrics.team}`, `adapter ${metrics.adapter}`, ...nameEngine(metrics.engine)]
            .map((name) => toLine(name, 60))
            .join(' · '),
          metrics.network === undefined
            ? null
            : `network ${formatNetwork({ rttMs: metrics.network.rtt_ms, bitsPerS: metrics.network.bits_per_s })}`,
          made.machine,
          `run ${toLine(metrics.run_id, 60)}`,
        ]}
      />
      {metrics.ledger.balanced ? null : (
        <Notes
          isAlarm
          texts={[
            `The ledger does not balance, so these figures cannot be trusted: ${toLine(metrics.ledger.differences.join('; '), 600)}`,
          ]}
        />
      )}
      <Notes texts={warnings.map((warning) => `Warning: ${warning}`)} />
      <Facts facts={listFacts(run)} />
      <div class="grid">
        {questions.length === 0 ? null : (
          <QuestionsCard
            teams={[metrics.team]}
            rows={questions}
            about="Wrong answers first. Open one to read its reasoning, and to see its packets below."
            opened={task}
            onOpen={setTask}
          />
        )}
        {traffic === null ? (
          <Card
            title="From the document to the answer"
            about="This run was too long to be recorded, so there are no packets to look into."
          />
        ) : (
          <Packets
            traffic={traffic}
            task={task}
            onTask={setTask}
            load={async (packet) => readDetails(run, traffic.packets.indexOf(packet))}
          />
        )}
        {metrics.tasks > 1
          ? null
          : run.logs.traces.map(({ task_id, text }) => (
              <Card key={task_id} title="Reasoning and tool calls">
                <Trace text={text} />
              </Card>
            ))}
        <Below packets={traffic?.packets.length ?? 0}>
          <TimeCard metrics={metrics} />
          <ByteBridge metrics={metrics} />
          {metrics.tasks > 1 ? <HopsCard metrics={metrics} /> : null}
          <AgentsCard rows={metrics.agents} load={async (agent) => logs.get(agent) ?? null} />
        </Below>
        {notes.length === 0 ? null : (
          <Card title="What this page does not hold">
            <ul class="list">
              {notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          </Card>
        )}
      </div>
    </>
  );
}

/** Returns the name of the engine; an empty list for recorded traffic without one. */
function nameEngine(engine: string): string[] {
  return engine === 'none' ? [] : [`engine ${engine}`];
}

function formatTitle({ metrics, results }: RunData): string {
  const { status, answer, reason, tasks, answered, elapsed_ms, normalized_em } = metrics;
  const time = formatMs(elapsed_ms);
  const scored = results.filter((result) => result.normalized_em !== null);
  if (scored.length > 1) {
    const right = scored.filter((result) => result.normalized_em === 1).length;
    return `${count(right)} of ${formatCounted(scored.length, 'task')} right (${formatPercent(right / scored.length, 0)}), in ${time}`;
  }
  if (answer !== null)
    return `“${toLine(answer, 120)}”: ${judgeAnswer({ status, correct: toRight(normalized_em) })}, in ${time}`;
  if (tasks > 1) return `${count(answered)} of ${formatCounted(tasks, 'task')} answered, in ${time}`;
  const why = reason === undefined ? '' : `: ${toLine(reason, 200)}`;
  return status === 'answered' ? `Answered in ${time}` : `No answer (${status}) after ${time}${why}`;
}

function listFacts(run: RunData): Fact[] {
  const { metrics } = run;
  const { ledger, tasks, answered, bytes_rx, bytes_tx, pkt_cnt, header_overhead } = metrics;
  const documents = ledger.total.packets - pkt_cnt;
  const mesh = metrics.time_us;
  return [
    nameOutcome(run),
    {
      name: 'Time',
      value: formatMs(metrics.elapsed_ms),
      note: mesh === null ? undefined : `${formatMs((mesh.tool + mesh.engine) / 1000)} in tools`,
      explain: 'From the first document sent to the last answer, by the hub’s clock.',
    },
    {
      name: 'Packets of agents',
      value: count(pkt_cnt),
      note:
        documents > 0
          ? `and ${formatCounted(documents, 'document')} of the hub`
          : tasks > 1
            ? `${count(answered)} of ${formatCounted(tasks, 'task')} answered`
            : undefined,
      explain: 'Packets that the hub received and passed on; copies are not counted.',
    },
    {
      name: 'Bytes received, sent',
      value: formatBytes(bytes_rx),
      note: `${formatBytes(bytes_tx)} sent on, copies included`,
      explain: 'Frames of packets that the hub read from agents and wrote to them.',
    },
    {
      name: 'Overhead',
      value: formatBytes(header_overhead),
      note: bytes_rx === 0 ? undefined : `${formatPercent(header_overhead / bytes_rx)} of what was received`,
      explain: 'Bytes around the payloads of agents’ packets: framing, envelope and layers.',
    },
    {
      name: 'Tokens',
      value: count(metrics.token_sum),
      note: metrics.token_source === undefined ? undefined : `by ${metrics.token_source} counter`,
      explain: 'Tokens that agents reported with their packets.',
    },
  ];
}

function nameOutcome({ metrics }: RunData): Fact {
  const { status, tasks, answered, normalized_em, exact_match, rouge_l } = metrics;
  const scores = [
    ...(exact_match === null ? [] : [`EM ${exact_match.toFixed(2)}`]),
    ...(rouge_l === null ? [] : [`ROUGE-L ${rouge_l.toFixed(2)}`]),
  ].join(' · ');
  if (tasks > 1)
    return {
      name: 'Right',
      value: normalized_em === null ? UNKNOWN : formatPercent(normalized_em),
      note: `${count(answered)} of ${formatCounted(tasks, 'task')} answered`,
      explain: 'Share of answers equal to the true one after SQuAD’s normalisation.',
    };
  const word = judgeAnswer({ status, correct: toRight(normalized_em) });
  return {
    name: 'Answer',
    value: word,
    tone: readTone(word),
    note: scores === '' ? undefined : scores,
    explain: 'Against the true answer, after SQuAD’s normalisation.',
  };
}

/** Lists the answers of a batch, wrong ones first. */
function listQuestions({ results, tasks }: RunData): QuestionRow[] {
  const questions = new Map(tasks.map(({ id, question }) => [id, question]));
  return sortQuestions(
    results.map(({ id, normalized_em, ...attempt }) => ({
      id,
      question: questions.get(id) ?? '',
      truth: attempt.truth,
      answers: [{ ...attempt, correct: toRight(normalized_em) }],
    })),
  );
}

const toRight = (score: number | null) => (score === null ? null : score === 1);

let later: readonly string[] | undefined;

/** Returns the content of a packet, which a page of a file has after its script. */
function readDetails({ details }: RunData, packet: number): string | null {
  later ??= JSON.parse(document.getElementById('later')?.textContent ?? '[]') as readonly string[];
  return details[packet] ?? later[packet] ?? null;
}

/** The parts of the time, each with its description and colour: the thinking first, then the mesh. */
const PARTS = [
  ['engine', 'the engine, which does the thinking', '--s1'],
  ['tool', 'the tool around its engine', '--s3'],
  ['agent', 'the agent around its tool: log and queue', '--s5'],
  ['encode', 'the adapter, writing', '--s4'],
  ['wire', 'system calls, kernel and event loops', '--s2'],
  ['relay', 'the hub', '--ink'],
  ['decode', 'the adapter, reading', '--s4'],
  ['unknown', 'agents that did not report what they did, and the way to and from them', '--line'],
] as const;

function TimeCard({ metrics: { time_us: split, answered } }: Pick<RunData, 'metrics'>) {
  if (split === null || split.total <= 0) return null;
  const mesh = split.total - split.engine - split.tool - split.unknown;
  const share = (us: number) => formatPercent(us / split.total, 0);
  const unknown = split.unknown > 0 ? `, ${share(split.unknown)} not known` : ', every part measured';
  const parts = PARTS.filter(([name]) => split[name] > 0);
  return (
    <Card
      size="half"
      title="Where the time went"
      nav="Time"
      id="time"
      about={`${share(split.engine + split.tool)} of the time is thinking, ${share(mesh)} the mesh${unknown}: ${formatMs(split.total / 1000)} of ${formatCounted(answered, 'answered task')}, along the packets that led to each answer.`}
    >
      <LegendBar
        label="Where the time went"
        parts={parts.map(([name, , hue]) => ({
          name,
          hue,
          value: split[name],
          text: formatMs(split[name] / 1000),
        }))}
      />
      <dl class="pairs">
        {parts.map(([name, what]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** The packets of each agent by type, with their times. */
function HopsCard({ metrics }: { readonly metrics: RunData['metrics'] }) {
  const { rows, columns } = buildHopTable(metrics);
  if (rows.length === 0) return null;
  return (
    <Card title="What each agent sent, and how long it took" id="hops">
      <ResultTable label="What each agent sent" rows={rows} columns={columns} />
    </Card>
  );
}

type Metrics = RunData['metrics'];

/** The purposes of bytes: the lines of the ledger, each with its colour. */
export const BYTE_PARTS = [
  { key: 'payload', name: 'payload', hue: '--s1', explain: 'Bytes of what packets say, as compact JSON.' },
  {
    key: 'envelope',
    name: 'envelope',
    hue: '--s2',
    explain: 'Bytes that name type, sender, task and the like.',
  },
  { key: 'framing', name: 'framing', hue: '--s5', explain: 'Bytes that say how long a frame is.' },
  {
    key: 'payload_coding',
    name: 'coding',
    hue: '--s4',
    explain: 'Bytes that the adapter writes for the payload beyond compact JSON; below 0 it saves some.',
  },
  {
    key: 'layers',
    name: 'layers',
    hue: '--s3',
    explain: 'Bytes that compression, signatures and encryption add; below 0 they save some.',
  },
] as const;

interface Step {
  readonly name: string;
  readonly bytes: number;
  readonly isSum: boolean;
}

/** A table from the bytes of payloads to the bytes on the sockets; every byte counts on one line. */
function ByteBridge({ metrics }: { readonly metrics: Metrics }) {
  const steps = listSteps(metrics);
  const most = Math.max(1, ...steps.map(({ bytes }) => Math.abs(bytes)));
  const columns: Column<Step>[] = [
    { header: 'bytes of', isText: true, value: ({ name }) => name },
    {
      header: 'bytes',
      value: ({ bytes }) => bytes,
      explain: 'Counted where the hub reads and writes frames; sums are in bold.',
      cell: ({ bytes, isSum }) => (isSum ? <strong>{count(bytes)}</strong> : count(bytes)),
    },
    {
      header: 'share',
      value: () => '',
      cell: ({ bytes, isSum }) => (
        <Bar
          parts={[{ name: 'bytes', value: Math.abs(bytes), hue: isSum ? '--muted' : '--s1' }]}
          high={most}
        />
      ),
    },
  ];
  const { balanced, total } = metrics.ledger;
  return (
    <Card
      size="half"
      title="From payload to the sockets"
      nav="Bytes"
      id="bytes"
      about={`Every byte is on one line.${balanced && metrics.ledger.written !== undefined ? ' The last equals the operating system’s counters.' : ''} The wire carries ${formatDecimals(total.wire / Math.max(1, total.payload), 2)}× the payload.`}
    >
      <ResultTable label="From payload to the sockets" rows={steps} columns={columns} />
    </Card>
  );
}

function listSteps({ ledger }: Metrics): Step[] {
  const { total, written, read } = ledger;
  const once: Step[] = BYTE_PARTS.filter(({ key }) => key === 'payload' || total[key] !== 0).map(
    ({ key, name }) => ({
      name: key === 'payload' ? 'payload, as compact JSON' : `+ ${name}`,
      bytes: total[key],
      isSum: false,
    }),
  );
  once.push({ name: '= each packet once', bytes: total.wire, isSum: true });
  if (written === undefined || read === undefined) return once;
  const both = written.packets + read.packets;
  const more = [
    ['+ further copies of packets', both - total.wire],
    ['+ handshake and ledger', written.session + read.session],
    ['+ acknowledgements', written.acks + read.acks],
    ['+ refused, torn or repeated frames', read.refused + read.torn + read.repeated],
  ] as const;
  return [
    ...once,
    ...more.filter(([, bytes]) => bytes !== 0).map(([name, bytes]) => ({ name, bytes, isSum: false })),
    {
      name: '= sockets of the hub, both ways',
      bytes: written.sockets + read.sockets,
      isSum: true,
    },
  ];
}
