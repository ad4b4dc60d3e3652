import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { ShownAttempt } from '../report/shown-attempt.ts';
import { listSteps } from '../results/failures/trace-steps.ts';
import { formatDecimals } from '../terminal/table.ts';
import { formatBytes, formatCounted, formatMs, showHidden, toLine } from './format.ts';
import { Card, Choice, Loaded, Trace } from './parts.tsx';
import { type Column, createFigure, ResultTable, Verdict } from './result-table.tsx';

type Use = { readonly [Key in keyof ShownAttempt['use']]: number | null };

type Optional<Fields> = { readonly [Key in keyof Fields]?: Fields[Key] | undefined };

/** An attempt, or what is known of it while it is made. */
export interface Answer extends Optional<Omit<ShownAttempt, 'final_answer' | 'use' | 'correct'>> {
  readonly final_answer?: string | null | undefined;
  /** True if the scorer of the command calls it right; null where no true answer is known. */
  readonly correct: boolean | null;
  readonly use?: Use | undefined;
}

/** A question, and the answers of the teams that were asked, in the order of their names. */
export interface QuestionRow {
  readonly id: string;
  readonly question: string;
  /** Level, kind and file of the question. */
  readonly about?: string;
  readonly truth: string | null;
  readonly answers: readonly (Answer | undefined)[];
}

/** Names the outcome of a question. */
export function judgeAnswer({
  status,
  correct,
  cached,
}: Pick<Answer, 'status' | 'correct' | 'cached'>): string {
  const word =
    status === undefined
      ? 'asked'
      : status === 'timeout'
        ? 'out of time'
        : status !== 'answered' || correct === null
          ? status
          : correct
            ? 'right'
            : 'wrong';
  return cached ? `${word}, cached` : word;
}

const judge = (answer: Answer | undefined) => (answer === undefined ? 'not asked' : judgeAnswer(answer));

const countRight = ({ answers }: QuestionRow) => answers.filter((answer) => answer?.correct === true).length;

/** Filters by the number of teams that are right; the search finds words. */
const FILTERS: readonly (readonly [name: string, fits: (right: number, teams: number) => boolean])[] = [
  ['all questions', () => true],
  ['teams differ', (right, teams) => right > 0 && right < teams],
  ['no team is right', (right) => right === 0],
];

/** Outcomes, the most telling first. */
const ORDER = ['wrong', 'failed', 'out of time', 'answered', 'right'];

/** Puts the questions first that the fewest teams got right. */
export function sortQuestions(rows: readonly QuestionRow[]): QuestionRow[] {
  const rank = ({ answers: [first] }: QuestionRow) => ORDER.indexOf(judge(first));
  return rows.toSorted((a, b) => countRight(a) - countRight(b) || rank(a) - rank(b));
}

interface QuestionsCardProps {
  readonly teams: readonly string[];
  readonly rows: readonly QuestionRow[];
  readonly about: string;
  /** Id of the opened question. */
  readonly opened: string | null;
  readonly onOpen: (id: string | null) => void;
  /** Loads the reasoning for a question that is still being answered. */
  readonly load?: ((id: string) => Promise<string | null>) | undefined;
  /** Further controls beside the filter. */
  readonly tools?: ComponentChildren;
  readonly atFirst?: number;
}

/** A table of questions by teams. Opening a question shows the answer of every team. */
export function QuestionsCard(props: QuestionsCardProps) {
  const { teams, rows, about, opened, onOpen, load, tools, atFirst } = props;
  const [filter, setFilter] = useState(0);
  const shown = useMemo(() => {
    const [, fits = () => true] = FILTERS[filter] ?? [];
    return rows.filter((row) => fits(countRight(row), teams.length));
  }, [rows, filter]);
  const columns: Column<QuestionRow>[] = [
    {
      header: 'question',
      isText: true,
      value: ({ question, id, about: kind = '' }) => `${toLine(question, 300)} ${id} ${kind}`,
      cell: ({ question, id }) => toLine(question || id, 160),
    },
    { header: 'about', isText: true, value: ({ about: kind }) => kind, rank: 1 },
    ...teams.map((team, index): Column<QuestionRow> => {
      const word = ({ answers }: QuestionRow) => judge(answers[index]);
      return {
        header: teams.length === 1 ? 'verdict' : toLine(team, 30),
        value: word,
        cell: (row) => <Verdict word={word(row)} />,
      };
    }),
    ...(teams.length === 1 ? ANSWER_COLUMNS : []),
  ];
  return (
    <Card title="Questions" nav="Questions" id="questions" about={about}>
      <ResultTable
        label="Questions"
        rows={shown}
        columns={columns}
        atFirst={atFirst}
        opened={shown.find(({ id }) => id === opened)}
        onOpen={({ id }) => onOpen(id === opened ? null : id)}
        detail={(row) => <QuestionDetail row={row} teams={teams} load={load} />}
        tools={
          teams.length === 1 && tools === undefined ? undefined : (
            <>
              {teams.length === 1 ? null : (
                <Choice
                  label="Show"
                  names={FILTERS.map(([name]) => name)}
                  chosen={filter}
                  onChoice={setFilter}
                />
              )}
              {tools}
            </>
          )
        }
      />
    </Card>
  );
}

/** Columns of the only team that was asked. */
const ANSWER_COLUMNS: readonly Column<QuestionRow>[] = [
  { header: 'answer', isText: true, value: ({ answers: [own] }) => own?.final_answer ?? own?.reason ?? null },
  { header: 'true answer', isText: true, value: ({ truth }) => truth },
  {
    header: 'F1',
    value: ({ answers: [own] }) => own?.f1,
    digits: 2,
    explain: 'Words that the answer shares with the true one, 0 to 1, as SQuAD counts them.',
    rank: 1,
  },
  {
    header: 'tokens',
    value: ({ answers: [own] }) => own?.use?.tokens,
    explain: 'Tokens that models’ servers counted or packets reported, whichever are more.',
    rank: 1,
  },
  {
    header: 'packets',
    value: ({ answers: [own] }) => own?.use?.packets,
    explain: 'Packets of agents that the hub received and passed on.',
    rank: 1,
  },
  {
    header: 'bytes',
    value: ({ answers: [own] }) => own?.use?.bytes,
    explain: 'Frames that the hub read and wrote for the question, copies included.',
    rank: 1,
  },
  createFigure(
    'time',
    ({ answers: [own] }) => (own?.use?.seconds == null ? null : own.use.seconds * 1000),
    formatMs,
    'From the broadcast of the document to the final answer, by the hub’s clock.',
  ),
  { header: 'task', isText: true, value: ({ id }) => toLine(id, 80), rank: 1 },
];

function QuestionDetail({
  row,
  teams,
  load,
}: Pick<QuestionsCardProps, 'teams' | 'load'> & { row: QuestionRow }) {
  const { id, question, about, truth, answers } = row;
  return (
    <div class="attempts">
      <p>{showHidden(question)}</p>
      <p>
        {truth === null ? 'The true answer is not known.' : 'True answer: '}
        {truth === null ? null : <b>{showHidden(truth)}</b>}
      </p>
      <p class="about">{showHidden([`id ${id}`, about].filter(Boolean).join(' · '))}</p>
      {teams.map((team, index) => {
        const answer = answers[index];
        return (
          <section key={team}>
            <h3>
              {toLine(team, 60)} <Verdict word={judge(answer)} />
            </h3>
            {answer === undefined ? null : (
              <AnswerDetail answer={answer} team={team} isOpen={teams.length === 1} />
            )}
            {load === undefined ? null : (
              <Loaded
                label={`Reasoning for ${id}`}
                of={id}
                load={() => load(id)}
                missing="The team has noted no steps for it. Its packets are below."
                show={(text) => <Trace text={text} />}
              />
            )}
          </section>
        );
      })}
    </div>
  );
}

function AnswerDetail({ answer, team, isOpen }: { answer: Answer; team: string; isOpen: boolean }) {
  const { final_answer: text, reason = '', tool_calls = [], reasoning_trace: trace } = answer;
  const tools = tool_calls.map(({ tool, count, failed }) =>
    failed === 0 ? `${tool} ${count}` : `${tool} ${count} (${failed} failed)`,
  );
  return (
    <>
      {text == null ? null : <p>{showHidden(text)}</p>}
      {reason === '' || text?.includes(reason) ? null : <p class="about">{showHidden(reason)}</p>}
      <p class="about">
        {formatTaken(answer)}
        {tools.length === 0 ? '' : ` · tools: ${toLine(tools.join(', '), 400)}`}
      </p>
      {trace === undefined ? null : (
        <details open={isOpen}>
          <summary>{`Reasoning and tool calls of ${team}: ${formatCounted(listSteps(trace).length, 'step')}`}</summary>
          <Trace text={trace} />
        </details>
      )}
    </>
  );
}

function formatTaken({ cached, use, took, model_calls }: Answer): string {
  if (use === undefined) return '';
  const calls = model_calls === undefined ? '' : ` · ${formatCounted(model_calls, 'model call')}`;
  if (!cached) return `${formatUse(use)}${calls}`;
  const before = took === undefined ? '' : `; when it was asked: ${formatUse(took)}`;
  return `from the cache in ${formatDecimals(use.seconds, 3)}\u00a0s${before}`;
}

function formatUse({ tokens, packets, bytes, seconds, cost }: Use): string {
  return [
    tokens === null ? 'tokens not known' : formatCounted(tokens, 'token'),
    ...(packets === null ? [] : [formatCounted(packets, 'packet')]),
    ...(bytes === null ? [] : [formatBytes(bytes)]),
    `${formatDecimals(seconds, 2)}\u00a0s`,
    ...(cost === null || cost === 0 ? [] : [`$${formatDecimals(cost, 4)}`]),
  ].join(' · ');
}
