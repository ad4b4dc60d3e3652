import { useState } from 'preact/hooks';
import type { RunData } from '../../report/run/run-data.ts';
import { listHopColumns, listHopRows } from '../../results/tables/hop-columns.ts';
import { formatMs, toLine } from '../format.ts';
import { Badge, Card, Loaded, Trace } from '../parts.tsx';
import { type Column, createCount, ResultTable, toPageColumns, Verdict } from '../result-table.tsx';

/** A question and its answer; null stands for a value that is not known, or not yet. */
export interface AnswerRow {
  readonly id: string;
  readonly question: string | null;
  readonly verdict: string;
  readonly answer: string | null;
  readonly truth: string | null;
  readonly reason: string | null;
  readonly f1: number | null;
  readonly tokens: number | null;
  readonly packets: number | null;
  readonly bytes: number | null;
  readonly ms: number | null;
}

/** Names the outcome of a question. */
export function judgeAnswer(status: string, score: number | null): string {
  if (status === 'timeout') return 'out of time';
  if (status !== 'answered') return status;
  return score === null ? 'answered' : score === 1 ? 'right' : 'wrong';
}

interface AnswersCardProps {
  readonly rows: readonly AnswerRow[];
  readonly about: string;
  readonly chosen: string | null;
  readonly onChoose: (id: string | null) => void;
  /** Loads the reasoning and the tool calls for a question. */
  readonly load: (id: string) => Promise<string | null>;
  readonly atFirst?: number;
}

/** Questions with their answers. Opening one shows its reasoning, and its packets further down the page. */
export function AnswersCard({ rows, about, chosen, onChoose, load, atFirst }: AnswersCardProps) {
  const columns: Column<AnswerRow>[] = [
    { header: 'question', isText: true, value: ({ id, question }) => toLine(question ?? id, 160) },
    {
      header: 'verdict',
      value: ({ verdict }) => verdict,
      cell: ({ verdict }) => <Verdict word={verdict} />,
      explain: 'By the true answer, where it is known.',
    },
    { header: 'answer', isText: true, value: ({ answer, reason }) => answer ?? reason },
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
        ({ tokens }) => tokens,
        'Tokens that models’ servers counted or packets reported, whichever are more.',
      ),
      isWide: true,
    },
    {
      ...createCount(
        'packets',
        ({ packets }) => packets,
        'Packets of agents that the hub received and passed on.',
      ),
      isWide: true,
    },
    {
      ...createCount(
        'bytes',
        ({ bytes }) => bytes,
        'Frames that the hub read and wrote for the task, copies included.',
      ),
      isWide: true,
    },
    {
      header: 'time',
      isNumber: true,
      value: ({ ms }) => ms,
      format: formatMs,
      explain: 'From the broadcast of the document to the final answer, by the hub’s clock.',
    },
    { header: 'task', isWide: true, isText: true, value: ({ id }) => toLine(id, 80) },
  ];
  return (
    <Card title="Answers" nav="Answers" id="answers" about={about}>
      <ResultTable
        label="Answers"
        rows={rows}
        columns={columns}
        atFirst={atFirst}
        opened={rows.find(({ id }) => id === chosen)}
        onOpen={({ id }) => onChoose(id === chosen ? null : id)}
        detail={(row) => <AnswerDetail row={row} load={load} />}
      />
    </Card>
  );
}

function AnswerDetail({ row, load }: { readonly row: AnswerRow; readonly load: AnswersCardProps['load'] }) {
  const facts = [
    ['Question', row.question],
    ['Answer', row.answer],
    ['True answer', row.truth],
    ['Reason', row.reason],
  ] as const;
  return (
    <>
      <dl class="pairs">
        {facts.map(([name, text]) =>
          text === null || text === '' ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{toLine(text, 2000)}</dd>
            </div>
          ),
        )}
      </dl>
      <Loaded
        label={`Reasoning for ${row.id}`}
        of={row.id}
        load={() => load(row.id)}
        missing="The team has noted no steps for it. Its packets are below."
        show={(text) => <Trace text={text} />}
      />
    </>
  );
}

/** The packets of each agent by type, with their times. */
export function HopsCard({ metrics }: { readonly metrics: RunData['metrics'] }) {
  const rows = listHopRows(metrics);
  if (rows.length === 0) return null;
  return (
    <Card title="What each agent sent, and how long it took" id="hops">
      <ResultTable
        label="What each agent sent"
        rows={rows}
        columns={toPageColumns(listHopColumns(rows), rows)}
      />
    </Card>
  );
}

/** An agent; null stands for a value that is not known, or not yet. */
export interface AgentRow {
  readonly id: string;
  readonly tool: string;
  readonly state: string;
  readonly fault: string | null;
  readonly packets: number;
  readonly bytes: number;
  readonly bytesReceived: number | null;
  readonly tokens: number | null;
  readonly toolMs: number | null;
  readonly refused: number | null;
}

interface AgentsCardProps {
  readonly rows: readonly AgentRow[];
  /** Loads the end of an agent's log. */
  readonly load: (agent: string) => Promise<string | null>;
}

/** The agents with their own logs. */
export function AgentsCard({ rows, load }: AgentsCardProps) {
  const [opened, setOpened] = useState<string | null>(null);
  if (rows.length === 0) return null;
  const columns: Column<AgentRow>[] = [
    { header: 'agent', value: ({ id, tool }) => toLine(`${id} ${tool}`, 60) },
    {
      header: 'state',
      value: ({ state, fault }) => (fault === null ? state : `${state}: ${toLine(fault, 120)}`),
      cell: ({ state, fault }) => (
        <>
          <Badge tone={state === 'up' ? 'good' : state === 'starting' ? 'plain' : 'bad'}>{state}</Badge>
          {fault === null ? null : ` ${toLine(fault, 120)}`}
        </>
      ),
    },
    createCount('packets sent', ({ packets }) => packets, 'Packets that the hub received from it.'),
    createCount('bytes sent', ({ bytes }) => bytes, 'Frames of these packets.'),
    {
      ...createCount(
        'bytes received',
        ({ bytesReceived }) => bytesReceived,
        'Frames of packets that the hub wrote to it.',
      ),
      isWide: true,
    },
    createCount('tokens', ({ tokens }) => tokens, 'Tokens that it reported with its packets.'),
    {
      header: 'ms in its tool',
      isNumber: true,
      isWide: true,
      value: ({ toolMs }) => toolMs,
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
        rows={rows}
        columns={columns}
        opened={rows.find(({ id }) => id === opened)}
        onOpen={({ id }) => setOpened(id === opened ? null : id)}
        detail={({ id }) => (
          <Loaded
            label={`Log of ${id}`}
            of={id}
            load={() => load(id)}
            missing="There is no log of this agent."
          />
        )}
      />
    </Card>
  );
}
