import { useMemo, useState } from 'preact/hooks';
import type { QuestionsView, QuestionView } from '../../report/gaia/questions-view.ts';
import { showHidden, toLine } from '../format.ts';
import { Card, Select } from '../parts.tsx';
import { type Column, ResultTable } from '../result-table.tsx';

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
export function QuestionsCard({ view }: { readonly view: QuestionsView }) {
  const { teams, cycles, questions, notes } = view;
  const [cycle, setCycle] = useState(0);
  const [filter, setFilter] = useState('0');
  const [opened, setOpened] = useState<QuestionView | undefined>();
  const rows = useMemo(() => {
    const [, fits] = FILTERS[Number(filter)] ?? FILTERS[0] ?? ['', () => true];
    const readMarks = (question: QuestionView) => question.marks[cycle] ?? '';
    const countRight = (question: QuestionView) => readMarks(question).replaceAll(/[^r]/gi, '').length;
    return questions
      .filter((question) => fits(readMarks(question)))
      .sort((a, b) => countRight(a) - countRight(b));
  }, [questions, filter, cycle]);
  const columns: Column<QuestionView>[] = [
    {
      header: 'question',
      isText: true,
      value: ({ id, text, level, kind, file }) =>
        `${toLine(text, 300)} ${id} ${level === null ? '' : `level ${level}`} ${kind} ${file ?? ''}`,
      cell: ({ text }) => toLine(text, 160),
    },
    {
      header: 'about',
      isWide: true,
      isText: true,
      value: ({ level, kind, file }) =>
        toLine([level === null ? '' : `level ${level}`, kind, file ?? ''].filter(Boolean).join(' · '), 80),
    },
    ...teams.map(
      (team, index): Column<QuestionView> => ({
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
        detail={(question) => <Attempts question={question} teams={teams} cycle={cycle} />}
        tools={
          <>
            <Select
              label="Show"
              value={filter}
              options={FILTERS.map(([name], index): [string, string] => [String(index), name])}
              onChange={setFilter}
            />
            {cycles < 2 ? null : (
              <Select
                label="Cycle"
                value={String(cycle)}
                options={Array.from({ length: cycles }, (_, index): [string, string] => [
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

interface AttemptsProps {
  readonly question: QuestionView;
  readonly teams: readonly string[];
  readonly cycle: number;
}

function Attempts({ question, teams, cycle }: AttemptsProps) {
  const { id, text, truth, file, marks, attempts } = question;
  return (
    <div class="attempts">
      <p>{showHidden(text)}</p>
      <p>
        {truth === null ? 'The true answer is not known.' : 'True answer: '}
        {truth === null ? null : <b>{showHidden(truth)}</b>}
      </p>
      <p class="about">
        {[`id ${id}`, ...(file === null ? [] : [`file ${file}`])].map(showHidden).join(' · ')}
      </p>
      {teams.map((team, index) => {
        const { word } = readMark(marks[cycle]?.[index]);
        const attempt = attempts[cycle]?.[index] ?? null;
        return (
          <section key={team}>
            <h3>
              <Mark letter={marks[cycle]?.[index]} /> {toLine(team, 60)} <small>{word}</small>
            </h3>
            {attempt === null ? (
              word === 'not asked' ? null : (
                <p class="about">This attempt’s texts are not on the page.</p>
              )
            ) : (
              <>
                <p>{showHidden(attempt.answer)}</p>
                {attempt.reason === null ? null : <p class="about">{showHidden(attempt.reason)}</p>}
                <p class="about">
                  {attempt.took}
                  {attempt.tools === '' ? '' : ` · tools: ${showHidden(attempt.tools)}`}
                </p>
                <Trace steps={attempt.steps} team={team} isOpen={teams.length === 1} />
              </>
            )}
          </section>
        );
      })}
    </div>
  );
}

interface TraceProps {
  readonly steps: readonly { readonly isTool: boolean; readonly text: string }[];
  readonly team: string;
  readonly isOpen: boolean;
}

/** Reasoning and tool calls in their order. */
function Trace({ steps, team, isOpen }: TraceProps) {
  if (steps.length === 0) return null;
  return (
    <details open={isOpen}>
      <summary>{`Reasoning and tool calls of ${team}: ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`}</summary>
      <ol class="trace">
        {steps.map(({ isTool, text }, index) => (
          <li key={index} class={isTool ? 'tool-step' : undefined}>
            {showHidden(text)}
          </li>
        ))}
      </ol>
    </details>
  );
}
