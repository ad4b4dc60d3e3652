import { useMemo, useState } from 'preact/hooks';
import type { RunData } from '../../report/run/run-data.ts';
import { formatNetwork } from '../../terminal/table.ts';
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatDate,
  formatMs,
  formatPercent,
  toLine,
  UNKNOWN,
} from '../format.ts';
import { Badge, Card, type Fact, Facts, Later, Notes, Source, Title, type Tone } from '../parts.tsx';
import { type Column, createCount, ResultTable } from '../result-table.tsx';
import { ByteBridge, BytesByType } from './bytes.tsx';
import { LinksCard, Packets } from './packets.tsx';
import { HopsCard, TimeCard } from './time.tsx';

interface RunPartProps {
  readonly run: RunData;
  readonly isFirst: boolean;
}

/** A run: the answer, what happened, and where time and bytes went. */
export function RunPart({ run, isFirst }: RunPartProps) {
  const { metrics, made, warnings, notes } = run;
  const [task, setTask] = useState<string | null>(null);
  const isBatch = metrics.tasks > 1;
  const question = isBatch ? undefined : (run.tasks[0]?.question ?? undefined);
  return (
    <>
      <Title
        isFirst={isFirst}
        title={formatRunTitle(run)}
        lede={question === undefined ? undefined : toLine(question, 400)}
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
        {run.results.length === 0 ? null : <AnswersCard run={run} chosen={task} onChoose={setTask} />}
        <Packets run={run} task={task} onTask={setTask} />
        <Later>
          <TimeCard run={run} />
          <ByteBridge metrics={metrics} />
          <BytesByType metrics={metrics} />
          <HopsCard run={run} />
          <LinksCard packets={run.packets} />
          <AgentsCard run={run} />
        </Later>
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

/** Traffic that no engine took part in names none. */
function nameEngine(engine: string): string[] {
  return engine === 'none' ? [] : [`engine ${engine}`];
}

export function formatRunTitle({ metrics, results }: RunData): string {
  const { status, answer, reason, tasks, answered, elapsed_ms, normalized_em } = metrics;
  const time = formatMs(elapsed_ms);
  const scored = results.filter((result) => result.normalized_em !== null);
  if (scored.length > 1) {
    const right = scored.filter((result) => result.normalized_em === 1).length;
    return `${formatCount(right)} of ${formatCounted(scored.length, 'task')} right (${formatPercent(right / scored.length, 0)}), in ${time}`;
  }
  if (answer !== null) {
    const verdict = normalized_em === null ? 'answered' : normalized_em === 1 ? 'right' : 'wrong';
    return `“${toLine(answer, 120)}”: ${verdict}, in ${time}`;
  }
  if (tasks > 1) return `${formatCount(answered)} of ${formatCounted(tasks, 'task')} answered, in ${time}`;
  const why = reason === undefined ? '' : `: ${toLine(reason, 200)}`;
  return status === 'answered' ? `Answered in ${time}` : `No answer (${status}) after ${time}${why}`;
}

function listFacts(run: RunData): Fact[] {
  const { metrics } = run;
  const { ledger, tasks, answered, bytes_rx, bytes_tx, pkt_cnt, header_overhead } = metrics;
  const documents = ledger.total.packets - pkt_cnt;
  const overhead = ledger.total.wire === 0 ? 0 : header_overhead / bytes_rx;
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
      value: formatCount(pkt_cnt),
      note:
        documents > 0
          ? `and ${formatCounted(documents, 'document')} of the hub`
          : tasks > 1
            ? `${formatCount(answered)} of ${formatCounted(tasks, 'task')} answered`
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
      note: bytes_rx === 0 ? undefined : `${formatPercent(overhead)} of what was received`,
      explain: 'Bytes around the payloads of agents’ packets: framing, envelope and layers.',
    },
    {
      name: 'Tokens',
      value: formatCount(metrics.token_sum),
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
  const isRight = normalized_em === 1;
  if (tasks > 1)
    return {
      name: 'Right',
      value: normalized_em === null ? UNKNOWN : formatPercent(normalized_em),
      note: `${formatCount(answered)} of ${formatCounted(tasks, 'task')} answered`,
      explain: 'Share of answers equal to the true one after SQuAD’s normalisation.',
    };
  const word =
    status !== 'answered' ? status : normalized_em === null ? 'answered' : isRight ? 'right' : 'wrong';
  const tone: Tone = word === 'right' ? 'good' : word === 'answered' ? 'plain' : 'bad';
  return {
    name: 'Answer',
    value: word,
    tone,
    note: scores === '' ? undefined : scores,
    explain: 'Against the true answer, after SQuAD’s normalisation.',
  };
}

type Result = RunData['results'][number];

const VERDICTS: Readonly<Record<string, Tone>> = {
  right: 'good',
  wrong: 'bad',
  failed: 'bad',
  timeout: 'bad',
};

function judgeResult({ status, normalized_em }: Result): string {
  if (status !== 'answered') return status;
  return normalized_em === null ? 'answered' : normalized_em === 1 ? 'right' : 'wrong';
}

interface AnswersCardProps {
  readonly run: RunData;
  readonly chosen: string | null;
  readonly onChoose: (task: string | null) => void;
}

/** The answers of a batch, wrong ones first. */
function AnswersCard({ run, chosen, onChoose }: AnswersCardProps) {
  const { results, tasks } = run;
  const questions = useMemo(() => new Map(tasks.map(({ id, question }) => [id, question])), [tasks]);
  const order = ['wrong', 'failed', 'timeout', 'answered', 'right'];
  const rows = useMemo(
    () => results.toSorted((a, b) => order.indexOf(judgeResult(a)) - order.indexOf(judgeResult(b))),
    [results],
  );
  const columns: Column<Result>[] = [
    { header: 'question', isText: true, value: ({ id }) => questions.get(id) ?? toLine(id, 80) },
    {
      header: 'verdict',
      value: judgeResult,
      cell: (result) => <Badge tone={VERDICTS[judgeResult(result)] ?? 'plain'}>{judgeResult(result)}</Badge>,
      explain: 'By the true answer, after SQuAD’s normalisation.',
    },
    { header: 'answer', isText: true, value: ({ final_answer }) => final_answer },
    { header: 'true answer', isText: true, value: ({ truth }) => truth },
    {
      header: 'F1',
      isNumber: true,
      isWide: true,
      value: ({ f1 }) => f1,
      format: (f1) => f1.toFixed(2),
      explain: 'Words that the answer shares with the true one, 0 to 1, as SQuAD counts them.',
    },
    {
      ...createCount(
        'tokens',
        ({ use }) => use.tokens,
        'Tokens that models’ servers counted or packets reported, whichever are more.',
      ),
      isWide: true,
    },
    {
      ...createCount(
        'packets',
        ({ use }) => use.packets,
        'Packets of agents that the hub received and passed on.',
      ),
      isWide: true,
    },
    {
      ...createCount(
        'bytes',
        ({ use }) => use.bytes,
        'Frames that the hub read and wrote for the task, copies included.',
      ),
      isWide: true,
    },
    {
      header: 'time',
      isNumber: true,
      value: ({ use }) => use.seconds * 1000,
      format: formatMs,
      explain: 'From the broadcast of the document to the final answer, by the hub’s clock.',
    },
    { header: 'task', isWide: true, isText: true, value: ({ id }) => toLine(id, 80) },
  ];
  return (
    <Card
      title="Answers"
      nav="Answers"
      id="answers"
      about="Wrong answers first. Open one to see its packets below, and the agents’ reasoning."
    >
      <ResultTable
        label="Answers"
        rows={rows}
        columns={columns}
        opened={rows.find(({ id }) => id === chosen)}
        onOpen={({ id }) => onChoose(id === chosen ? null : id)}
        detail={(result) => <AnswerDetail result={result} question={questions.get(result.id) ?? null} />}
      />
    </Card>
  );
}

interface AnswerDetailProps {
  readonly result: Result;
  readonly question: string | null;
}

function AnswerDetail({ result, question }: AnswerDetailProps) {
  const facts = [
    ['Question', question],
    ['Answer', result.status === 'answered' ? result.final_answer : null],
    ['True answer', result.truth],
    ['Reason', result.reason],
  ] as const;
  return (
    <>
      <dl class="pairs">
        {facts.map(([name, text]) =>
          typeof text === 'string' ? (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{toLine(text, 2000)}</dd>
            </div>
          ) : null,
        )}
      </dl>
      <Source text={result.reasoning_trace} label={`Reasoning for ${result.id}`} />
    </>
  );
}

type Agent = RunData['metrics']['agents'][number];

/** The agents with their own logs. */
function AgentsCard({ run }: { readonly run: RunData }) {
  const { metrics, logs } = run;
  const [opened, setOpened] = useState<Agent | undefined>();
  const texts = new Map(logs.agents.map(({ id, text }) => [id, text]));
  if (metrics.agents.length === 0) return null;
  const columns: Column<Agent>[] = [
    { header: 'agent', value: ({ id, tool }) => toLine(`${id} ${tool}`, 60) },
    {
      header: 'state',
      value: ({ status, fault }) => (fault === undefined ? status : `${status}: ${toLine(fault, 120)}`),
      cell: ({ status }) => <Badge tone={status === 'up' ? 'good' : 'bad'}>{status}</Badge>,
    },
    createCount('packets sent', ({ packets_rx }) => packets_rx, 'Packets that the hub received from it.'),
    createCount('bytes sent', ({ bytes_rx }) => bytes_rx, 'Frames of these packets.'),
    {
      ...createCount(
        'bytes received',
        ({ bytes_tx }) => bytes_tx,
        'Frames of packets that the hub wrote to it.',
      ),
      isWide: true,
    },
    createCount('tokens', ({ tokens }) => tokens, 'Tokens that it reported with its packets.'),
    {
      header: 'ms in its tool',
      isNumber: true,
      isWide: true,
      value: ({ tool_us }) => (tool_us === null ? null : tool_us / 1000),
      format: (ms) => ms.toFixed(1),
      explain: 'By the agent’s own clock, over all packets.',
    },
    {
      ...createCount('refused', ({ refused }) => refused, 'Its packets that the hub did not accept.'),
      isWide: true,
    },
  ];
  return (
    <Card title="Agents" nav="Agents" id="agents" about="Open an agent to read the end of its log.">
      <ResultTable
        label="Agents"
        rows={metrics.agents}
        columns={columns}
        opened={opened}
        onOpen={(agent) => setOpened(agent === opened ? undefined : agent)}
        detail={({ id }) => (
          <Source text={texts.get(id) ?? 'The archive has no log of this agent.'} label={`Log of ${id}`} />
        )}
      />
      {logs.traces.length > 0 && metrics.tasks === 1 ? (
        <details>
          <summary>Reasoning and tool calls</summary>
          {logs.traces.map(({ task_id, text }) => (
            <Source key={task_id} text={text} label={`Reasoning for ${task_id}`} />
          ))}
        </details>
      ) : null}
    </Card>
  );
}
