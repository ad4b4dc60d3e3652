import { useMemo, useState } from 'preact/hooks';
import type { BatchData, ShownQuestion } from '../../report/batch-data.ts';
import type { ShownAttempt } from '../../report/shown-attempt.ts';
import { isToolStep, splitSteps } from '../../results/failures/trace-steps.ts';
import { formatBytes, formatCounted, formatDecimals, showHidden, toLine } from '../format.ts';
import { Card, Select } from '../parts.tsx';
import { type Column, ResultTable } from '../result-table.tsx';
import { listNotes } from './finding.ts';

/** By the letter of the data: sign, tone and word. A letter in upper case is an answer from the cache. */
const MARKS: Readonly<Record<string, readonly [sign: string, tone: string, word: string]>> = {
  r: ['✓', 'good', 'right'],
  w: ['✗', 'bad', 'wrong'],
  f: ['!', 'warn', 'failed'],
  t: ['T', 'warn', 'out of time'],
  u: ['?', 'plain', 'answered, true answer not known'],
  '-': ['·', 'plain', 'not asked'],
};
const UNASKED = ['·', 'plain', 'not asked'] as const;

function readMark(letter = '-') {
  const [sign, tone, word] = MARKS[letter.toLowerCase()] ?? UNASKED;
  const isCached = letter !== letter.toLowerCase();
  return { sign, tone, isCached, word: `${word}${isCached ? ', from the cache' : ''}` };
}

/** Filters by the marks of a question in the shown cycle. */
const FILTERS: readonly (readonly [name: string, fits: (marks: string) => boolean])[] = [
  ['all questions', () => true],
  ['teams differ', (marks) => /r/i.test(marks) && /[wft]/i.test(marks)],
  ['no team is right', (marks) => !/r/i.test(marks)],
  ['wrong', (marks) => /w/i.test(marks)],
  ['failed or out of time', (marks) => /[ft]/i.test(marks)],
  ['from a cache', (marks) => /[A-Z]/.test(marks)],
  ['not asked', (marks) => marks.includes('-')],
];

/** Questions down, teams across, wrong answers first; a question opens to what every team made of it. */
export function QuestionsCard({ batch }: { readonly batch: BatchData }) {
  const { repeat, questions, attempts } = batch;
  const teams = batch.teams.map(({ name }) => name);
  const [cycle, setCycle] = useState(0);
  const [filter, setFilter] = useState('0');
  const [opened, setOpened] = useState<ShownQuestion | undefined>();
  const notes = listNotes(batch);
  const made = useMemo(
    () => Map.groupBy(attempts, (attempt) => `${attempt.cycle} ${attempt.task_id}`),
    [attempts],
  );
  const rows = useMemo(() => {
    const [, fits] = FILTERS[Number(filter)] ?? FILTERS[0] ?? ['', () => true];
    const readMarks = (question: ShownQuestion) => question.marks[cycle] ?? '';
    const countRight = (question: ShownQuestion) => readMarks(question).replaceAll(/[^r]/gi, '').length;
    return questions
      .filter((question) => fits(readMarks(question)))
      .sort((a, b) => countRight(a) - countRight(b));
  }, [questions, filter, cycle]);
  const columns: Column<ShownQuestion>[] = [
    {
      header: 'question',
      isText: true,
      value: (question) => `${toLine(question.question, 300)} ${question.task_id} ${describeKind(question)}`,
      cell: ({ question }) => toLine(question, 160),
    },
    { header: 'about', isWide: true, isText: true, value: (question) => toLine(describeKind(question), 80) },
    ...teams.map(
      (team, index): Column<ShownQuestion> => ({
        header: toLine(team, 30),
        value: ({ marks }) => readMark(marks[cycle]?.[index]).word,
        cell: ({ marks }) => <Mark letter={marks[cycle]?.[index]} team={team} />,
      }),
    ),
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
        atFirst={25}
        opened={opened}
        onOpen={(question) => setOpened(question === opened ? undefined : question)}
        detail={(question) => (
          <Attempts
            question={question}
            teams={teams}
            cycle={cycle}
            made={made.get(`${cycle + 1} ${question.task_id}`) ?? []}
          />
        )}
        tools={
          <>
            <Select
              label="Show"
              value={filter}
              options={FILTERS.map(([name], index): [string, string] => [String(index), name])}
              onChange={setFilter}
            />
            {repeat < 2 ? null : (
              <Select
                label="Cycle"
                value={String(cycle)}
                options={Array.from({ length: repeat }, (_, index): [string, string] => [
                  String(index),
                  index === 0 ? '1 (first attempts)' : String(index + 1),
                ])}
                onChange={(value) => setCycle(Number(value))}
              />
            )}
            <span class="legend">
              {Object.keys(MARKS).map((letter) => (
                <span key={letter}>
                  <Mark letter={letter} /> {readMark(letter).word}
                </span>
              ))}
              <span>
                <sup>c</sup> from the cache
              </span>
            </span>
          </>
        }
      />
    </Card>
  );
}

function Mark({ letter, team }: { readonly letter: string | undefined; readonly team?: string }) {
  const { sign, tone, isCached, word } = readMark(letter);
  return (
    <span class={`mark ${tone}`} title={team === undefined ? undefined : `${team}: ${word}`}>
      <span aria-hidden="true">{sign}</span>
      {isCached ? <sup aria-hidden="true">c</sup> : null}
      {team === undefined ? null : <span class="unseen">{word}</span>}
    </span>
  );
}

function describeKind({ level, category, file_name }: ShownQuestion): string {
  return [level === undefined ? '' : `level ${level}`, category, file_name ?? ''].filter(Boolean).join(' · ');
}

interface AttemptsProps {
  readonly question: ShownQuestion;
  readonly teams: readonly string[];
  readonly cycle: number;
  readonly made: readonly ShownAttempt[];
}

function Attempts({ question, teams, cycle, made }: AttemptsProps) {
  const { task_id, truths, file_name, marks } = question;
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
      {teams.map((team, index) => {
        const letter = marks[cycle]?.[index];
        const attempt = made.find((one) => one.team === team);
        return (
          <section key={team}>
            <h3>
              <Mark letter={letter} /> {toLine(team, 60)} <small>{readMark(letter).word}</small>
            </h3>
            {attempt === undefined ? (
              readMark(letter).word === UNASKED[2] ? null : (
                <p class="about">This attempt’s texts are not on the page.</p>
              )
            ) : (
              <AttemptDetail attempt={attempt} isOpen={teams.length === 1} />
            )}
          </section>
        );
      })}
    </div>
  );
}

function AttemptDetail({ attempt, isOpen }: { readonly attempt: ShownAttempt; readonly isOpen: boolean }) {
  const { final_answer: answer, reason, tool_calls, reasoning_trace } = attempt;
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
      <Trace text={reasoning_trace} team={attempt.team} isOpen={isOpen} />
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

interface TraceProps {
  readonly text: string;
  readonly team: string;
  readonly isOpen: boolean;
}

/** Reasoning and tool calls in their order. */
function Trace({ text, team, isOpen }: TraceProps) {
  const steps = splitSteps(text);
  return (
    <details open={isOpen}>
      <summary>{`Reasoning and tool calls of ${team}: ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`}</summary>
      <ol class="trace">
        {steps.map((step, index) => (
          <li key={index} class={isToolStep(step) ? 'tool-step' : undefined}>
            {showHidden(step)}
          </li>
        ))}
      </ol>
    </details>
  );
}
