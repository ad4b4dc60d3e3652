import { useMemo, useState } from 'preact/hooks';
import type { RunData } from '../../report/run/run-data.ts';
import { count, formatNetwork, formatPercent } from '../../terminal/table.ts';
import { formatBytes, formatCounted, formatDate, formatMs, toLine, UNKNOWN } from '../format.ts';
import { Below, Card, type Fact, Facts, Notes, PartsBar, Title, Trace } from '../parts.tsx';
import { readTone } from '../result-table.tsx';
import { ByteBridge } from './bytes.tsx';
import { Packets } from './packets.tsx';
import { AgentsCard, type AnswerRow, AnswersCard, HopsCard, judgeAnswer } from './tables.tsx';

/** The page of a run: its answer, its packets, and its time and bytes by purpose. */
export function RunPage({ run }: { readonly run: RunData }) {
  const { metrics, made, warnings, notes, packets } = run;
  const [task, setTask] = useState<string | null>(null);
  const ids = useMemo(() => run.tasks.map(({ id }) => id), [run]);
  const answers = useMemo(() => listAnswers(run), [run]);
  const logs = new Map(run.logs.agents.map(({ id, text }) => [id, text]));
  const [only] = run.tasks;
  return (
    <>
      <Title
        title={formatTitle(run)}
        lede={metrics.tasks > 1 || only?.question == null ? undefined : toLine(only.question, 400)}
        command={made.command}
        made={[
          made.startedAt === null ? null : formatDate(made.startedAt),
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
        {answers.length === 0 ? null : (
          <AnswersCard
            rows={answers}
            about="Wrong answers first. Open one to read its reasoning, and to see its packets below."
            chosen={task}
            onChoose={setTask}
            load={async (id) => findTrace(run, id)}
          />
        )}
        {packets === null ? (
          <Card
            title="From the document to the answer"
            about="This run was too long to be recorded, so there are no packets to look into."
          />
        ) : (
          <Packets
            packets={packets}
            tasks={ids}
            task={task}
            onTask={setTask}
            load={async (packet) => readDetails(run)[packet] ?? null}
          />
        )}
        {metrics.tasks > 1
          ? null
          : run.logs.traces.map(({ task_id, text }) => (
              <Card key={task_id} title="Reasoning and tool calls">
                <Trace text={text} />
              </Card>
            ))}
        <Below packets={packets?.at.length ?? 0}>
          <TimeCard metrics={metrics} />
          <ByteBridge metrics={metrics} />
          {metrics.tasks > 1 ? <HopsCard metrics={metrics} /> : null}
          <AgentsCard rows={listAgents(run)} load={async (agent) => logs.get(agent) ?? null} />
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
  if (answer !== null) return `“${toLine(answer, 120)}”: ${judgeAnswer(status, normalized_em)}, in ${time}`;
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
  const word = judgeAnswer(status, normalized_em);
  return {
    name: 'Answer',
    value: word,
    tone: readTone(word),
    note: scores === '' ? undefined : scores,
    explain: 'Against the true answer, after SQuAD’s normalisation.',
  };
}

/** Lists the answers of a batch, wrong ones first. */
function listAnswers({ results, tasks }: RunData): AnswerRow[] {
  const questions = new Map(tasks.map(({ id, question }) => [id, question]));
  const order = ['wrong', 'failed', 'out of time', 'answered', 'right'];
  return results
    .map(
      ({ id, status, normalized_em, final_answer, truth, reason, f1, use }): AnswerRow => ({
        id,
        question: questions.get(id) ?? null,
        verdict: judgeAnswer(status, normalized_em),
        answer: final_answer,
        truth,
        reason: reason ?? null,
        f1,
        tokens: use.tokens,
        packets: use.packets,
        bytes: use.bytes,
        ms: use.seconds * 1000,
      }),
    )
    .sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
}

function findTrace({ results }: RunData, task: string): string | null {
  return results.find(({ id }) => id === task)?.reasoning_trace ?? null;
}

const detailsOfRuns = new WeakMap<RunData, readonly string[]>();

/** Parses the contents of a run's packets on the first call. */
function readDetails(run: RunData): readonly string[] {
  const details: readonly string[] = detailsOfRuns.get(run) ?? JSON.parse(run.details);
  detailsOfRuns.set(run, details);
  return details;
}

function listAgents({ metrics }: RunData) {
  return metrics.agents.map(({ id, tool, status, fault, tokens, refused, ...agent }) => ({
    id,
    tool,
    state: status,
    fault: fault ?? null,
    packets: agent.packets_rx,
    bytes: agent.bytes_rx,
    bytesReceived: agent.bytes_tx,
    tokens,
    toolMs: agent.tool_us === null ? null : agent.tool_us / 1000,
    refused,
  }));
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
      <PartsBar
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
