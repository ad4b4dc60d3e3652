import { useMemo, useState } from 'preact/hooks';
import type { BatchData, ShownQuestion } from '../../report/batch-data.ts';
import type { ShownAttempt } from '../../report/shown-attempt.ts';
import { splitSteps } from '../../results/failures/trace-steps.ts';
import { formatDecimals } from '../../terminal/table.ts';
import { formatBytes, formatCounted, showHidden, toLine } from '../format.ts';
import { Card, Select, Trace } from '../parts.tsx';
import { type Column, ResultTable, Verdict } from '../result-table.tsx';
import { judgeAnswer } from '../run/tables.tsx';
import { listNotes } from './finding.ts';

type Made = ReadonlyMap<string, ShownAttempt>;

const NOT_ASKED = 'not asked';

/** Names the outcome of a team's attempt. */
function judgeAttempt(attempt: ShownAttempt | undefined): string {
  if (attempt === undefined) return NOT_ASKED;
  const { status, correct, cached } = attempt;
  return `${judgeAnswer(status, correct === null ? null : Number(correct))}${cached ? ', cached' : ''}`;
}

/** Filters by the number of teams that are right; the search finds words. */
const FILTERS: readonly (readonly [name: string, fits: (right: number, teams: number) => boolean])[] = [
  ['all questions', () => true],
  ['teams differ', (right, teams) => right > 0 && right < teams],
  ['no team is right', (right) => right === 0],
];

/** A table of questions by teams, wrong answers first. Opening a question shows the attempt of every team. */
export function QuestionsCard({ batch }: { readonly batch: BatchData }) {
  const { cyclesShown, questions, attempts } = batch;
  const teams = batch.teams.map(({ name }) => name);
  const [cycle, setCycle] = useState('1');
  const [filter, setFilter] = useState('0');
  const [opened, setOpened] = useState<ShownQuestion | undefined>();
  const notes = listNotes(batch);
  /** The attempts of the shown cycle, by question and team. */
  const made = useMemo(() => {
    const own = attempts.filter((attempt) => attempt.cycle === Number(cycle));
    const byQuestion = Map.groupBy(own, ({ task_id }) => task_id);
    return new Map([...byQuestion].map(([id, all]) => [id, new Map(all.map((one) => [one.team, one]))]));
  }, [attempts, cycle]);
  const rows = useMemo(() => {
    const [, fits = () => true] = FILTERS[Number(filter)] ?? [];
    const countRight = ({ task_id }: ShownQuestion) =>
      [...(made.get(task_id)?.values() ?? [])].filter(({ correct }) => correct === true).length;
    return questions
      .map((question) => ({ question, right: countRight(question) }))
      .filter(({ right }) => fits(right, teams.length))
      .sort((a, b) => a.right - b.right)
      .map(({ question }) => question);
  }, [questions, filter, made]);
  const columns: Column<ShownQuestion>[] = [
    {
      header: 'question',
      isText: true,
      value: (question) => `${toLine(question.question, 300)} ${question.task_id} ${describeKind(question)}`,
      cell: ({ question }) => toLine(question, 160),
    },
    { header: 'about', isWide: true, isText: true, value: (question) => toLine(describeKind(question), 80) },
    ...teams.map((team): Column<ShownQuestion> => {
      const judge = ({ task_id }: ShownQuestion) => judgeAttempt(made.get(task_id)?.get(team));
      return { header: toLine(team, 30), value: judge, cell: (row) => <Verdict word={judge(row)} /> };
    }),
  ];
  return (
    <Card
      title="Questions"
      nav="Questions"
      id="questions"
      about={`Those that the fewest teams got right come first. Open one to read it, and what each team made of it.${notes.length === 0 ? '' : ` ${notes.join(' ')}`}`}
    >
      <ResultTable
        label="Questions"
        rows={rows}
        columns={columns}
        hasFilter
        opened={opened}
        onOpen={(question) => setOpened(question === opened ? undefined : question)}
        detail={(question) => (
          <Attempts question={question} teams={teams} made={made.get(question.task_id) ?? new Map()} />
        )}
        tools={
          <>
            <Select
              label="Show"
              value={filter}
              options={FILTERS.map(([name], index): [string, string] => [String(index), name])}
              onChange={setFilter}
            />
            {cyclesShown < 2 ? null : (
              <Select
                label="Cycle"
                value={cycle}
                options={Array.from({ length: cyclesShown }, (_, index): [string, string] => [
                  String(index + 1),
                  index === 0 ? '1 (first attempts)' : String(index + 1),
                ])}
                onChange={setCycle}
              />
            )}
          </>
        }
      />
    </Card>
  );
}

function describeKind({ level, category, file_name }: ShownQuestion): string {
  return [level === undefined ? '' : `level ${level}`, category, file_name ?? ''].filter(Boolean).join(' · ');
}

interface AttemptsProps {
  readonly question: ShownQuestion;
  readonly teams: readonly string[];
  readonly made: Made;
}

function Attempts({ question, teams, made }: AttemptsProps) {
  const { task_id, truths, file_name } = question;
  return (
    <div class="attempts">
      <p>{showHidden(question.question)}</p>
      <p>
        {truths.length === 0 ? 'The true answer is not known.' : 'True answer: '}
        {truths.length === 0 ? null : <b>{showHidden(truths.join(' | '))}</b>}
      </p>
      <p class="about">
        {[`id ${task_id}`, ...(file_name === undefined ? [] : [`file ${file_name}`])]
          .map(showHidden)
          .join(' · ')}
      </p>
      {teams.map((team) => {
        const attempt = made.get(team);
        return (
          <section key={team}>
            <h3>
              {toLine(team, 60)} <Verdict word={judgeAttempt(attempt)} />
            </h3>
            {attempt === undefined ? null : <AttemptDetail attempt={attempt} isOpen={teams.length === 1} />}
          </section>
        );
      })}
    </div>
  );
}

function AttemptDetail({ attempt, isOpen }: { readonly attempt: ShownAttempt; readonly isOpen: boolean }) {
  const { final_answer: answer, reason, tool_calls, reasoning_trace, team } = attempt;
  const tools = tool_calls.map(({ tool, count, failed }) =>
    failed === 0 ? `${tool} ${count}` : `${tool} ${count} (${failed} failed)`,
  );
  return (
    <>
      <p>{showHidden(answer)}</p>
      {reason === undefined || answer.includes(reason) ? null : <p class="about">{showHidden(reason)}</p>}
      <p class="about">
        {formatTaken(attempt)}
        {tools.length === 0 ? '' : ` · tools: ${toLine(tools.join(', '), 400)}`}
      </p>
      <details open={isOpen}>
        <summary>{`Reasoning and tool calls of ${team}: ${formatCounted(splitSteps(reasoning_trace).length, 'step')}`}</summary>
        <Trace text={reasoning_trace} />
      </details>
    </>
  );
}

function formatTaken({ cached, use, took, model_calls = 0 }: ShownAttempt): string {
  if (!cached) return `${formatUse(use)} · ${formatCounted(model_calls, 'model call')}`;
  const before = took === undefined ? '' : `; when it was asked: ${formatUse(took)}`;
  return `from the cache in ${formatDecimals(use.seconds, 3)}\u00a0s${before}`;
}

function formatUse({ tokens, packets, bytes, seconds, cost }: ShownAttempt['use']): string {
  return [
    tokens === null ? 'tokens not known' : formatCounted(tokens, 'token'),
    formatCounted(packets, 'packet'),
    formatBytes(bytes),
    `${formatDecimals(seconds, 2)}\u00a0s`,
    ...(cost === null || cost === 0 ? [] : [`$${formatDecimals(cost, 4)}`]),
  ].join(' · ');
}
