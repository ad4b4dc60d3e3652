import { dot, line, pointer, ruleX, tip } from '@observablehq/plot';
import { useState } from 'preact/hooks';
import type { BlameFile } from '../blame/blame-file.ts';
import { computeWilson } from '../statistics/inference/confidence.ts';
import { Chart, shareScale } from './chart.tsx';
import { formatCount, formatDate, formatDecimals, formatPercent, toLine } from './format.ts';
import { Badge, Card, Facts, Notes, Source, Title, type Tone } from './parts.tsx';
import { type Column, ResultTable } from './result-table.tsx';

type Message = BlameFile['messages'][number];
type Effect = Message['again'];

type Replacement = keyof Message['replaced'];

/** Replacements of a message: the mark of each, and its words. */
const REPLACEMENTS: Readonly<
  Record<Replacement, { readonly symbol: 'triangle' | 'square' | 'times'; readonly words: string }>
> = {
  truth: { symbol: 'triangle', words: 'the truth' },
  other: { symbol: 'square', words: 'another question’s message' },
  neutral: { symbol: 'times', words: 'a message that says nothing' },
};
const REPLACED = Object.keys(REPLACEMENTS) as Replacement[];

/** The search for the message that made an answer wrong. */
export function BlamePart({ file, isFirst }: { readonly file: BlameFile; readonly isFirst: boolean }) {
  const { branches, tries, margin, engine, model } = file;
  const [answer = '', ...more] = file.headline.split(/(?<=\.) (?=[A-Z])|: /);
  const rest = more.join(' ');
  return (
    <>
      <Title
        isFirst={isFirst}
        title={answer}
        lede={`${rest.charAt(0).toUpperCase()}${rest.slice(1)} “${toLine(file.question, 400)}” Each message was replaced in turn, and the rest of the run went on from there, ${formatCount(tries)} times or more.`}
        command={file.command}
        made={[
          file.measured_at === null ? null : formatDate(file.measured_at),
          `team ${file.team}`,
          `engine ${engine}${model === null ? '' : ` ${model}`}`,
          `task ${file.task_id}`,
          file.machine,
        ]}
      />
      <Notes
        texts={[
          ...(file.complete ? [] : [`The search ended early: ${file.ended_by ?? 'it was stopped'}.`]),
          ...(branches.departed === 0
            ? []
            : [
                `${formatCount(branches.departed)} branches were not as it was recorded, and are left out. The first: ${file.departed ?? ''}`,
              ]),
        ]}
      />
      <Facts
        facts={[
          {
            name: 'The team answered',
            value: toLine(file.answer, 60),
            tone: file.correct ? 'good' : 'bad',
            note: file.correct ? 'right' : 'wrong',
            explain: 'By the scorer of the batch, in the recorded run.',
          },
          { name: 'True answer', value: toLine(file.truth, 60), explain: 'As the file of questions has it.' },
          {
            name: 'Right if asked anew',
            value: formatPercent(file.outset.chance, 0),
            note: `${formatCount(file.outset.tries)} tries`,
            explain: 'The chance of a right answer where nothing is as it was.',
          },
          {
            name: 'Branches',
            value: formatCount(branches.asked),
            note: `${formatCount(branches.failed)} without an answer`,
            explain: 'Continuations of the run from a replaced message.',
          },
          {
            name: 'Tokens',
            value: branches.tokens === null ? '–' : formatCount(branches.tokens),
            note: branches.cost === null || branches.cost === 0 ? undefined : `$${branches.cost.toFixed(4)}`,
            explain: 'Tokens of all branches, by the servers’ own counts where they gave them.',
          },
        ]}
      />
      <div class="grid">
        <ChanceCard file={file} />
        <MessagesCard file={file} />
        <Card title="How it was measured" size="wide">
          <p class="about">
            {`A message is blamed where its sender, speaking again in its place, makes a right answer more likely, by a test corrected for all messages (Holm). Changes of less than ${formatDecimals(margin, 2)} count as none. Once the answer is wrong, a message changed it where its sender, speaking again, gives another one. Suspects get fresh tries, which alone decide; all tries together take less than thirty times the tokens of the question.`}
          </p>
        </Card>
      </div>
    </>
  );
}

function nameMessage({ from, to }: Message): string {
  return toLine(`${from} → ${to ?? 'all'}`, 40);
}

function formatEffect({ difference, low, high }: Effect): string {
  const sign = (value: number) => `${value < 0 ? '−' : '+'}${formatDecimals(Math.abs(value), 2)}`;
  return `${sign(difference)} (${sign(low)} to ${sign(high)})`;
}

function ChanceCard({ file }: { readonly file: BlameFile }) {
  const labels = new Map(
    file.messages.map((message) => [message.place, `${message.place} ${nameMessage(message)}`]),
  );
  const nameOf = (place: number) => labels.get(place) ?? 'asked anew';
  const points = [{ place: 0, ...file.outset }, ...file.messages].map(({ place, chance, tries }) => {
    const { low, high } = computeWilson(Math.round(chance * tries), tries);
    const title = `${nameOf(place)}: ${formatPercent(chance)} (${formatPercent(low)} to ${formatPercent(high)})`;
    return { place, chance, low, high, title };
  });
  const instead = file.messages.flatMap(({ place, replaced }) =>
    REPLACED.flatMap((what) => {
      const effect = replaced[what];
      if (effect === undefined) return [];
      return [
        {
          place,
          what,
          chance: effect.chance,
          title: `${what} instead of message ${place}: ${formatPercent(effect.chance)}`,
        },
      ];
    }),
  );
  return (
    <Card
      title="The chance of a right answer, message by message"
      nav="Chance"
      id="chance"
      about="The line falls at the message that made the answer wrong. Bars are 95 % intervals. Marks: the truth (triangle), another question’s message (square) and one that says nothing (cross) in the place of a message."
    >
      <Chart
        label="Chance of a right answer by message"
        of={file}
        draw={(width) => {
          const isNarrow = width < 600;
          return {
            height: isNarrow ? 300 : 360,
            marginLeft: 48,
            marginBottom: isNarrow ? 40 : 110,
            x: {
              type: 'point',
              domain: points.map(({ place }) => place),
              label: isNarrow ? 'message' : null,
              tickRotate: isNarrow ? 0 : -40,
              tickFormat: (place: number) => (isNarrow ? String(place) : nameOf(place)),
            },
            y: shareScale.axis('chance of a right answer'),
            marks: [
              shareScale.grid(),
              ruleX(points, {
                x: 'place',
                y1: 'low',
                y2: 'high',
                stroke: 'var(--s1)',
                strokeOpacity: 0.5,
                strokeWidth: 3,
              }),
              line(points, { x: 'place', y: 'chance', stroke: 'var(--s1)' }),
              ...REPLACED.map((what, index) =>
                dot(
                  instead.filter((point) => point.what === what),
                  {
                    x: 'place',
                    y: 'chance',
                    symbol: REPLACEMENTS[what].symbol,
                    r: 4,
                    dx: 8 + 6 * index,
                    stroke: 'var(--ink)',
                    fill: 'none',
                  },
                ),
              ),
              dot(points, { x: 'place', y: 'chance', fill: 'var(--s1)', r: 4 }),
              dot(
                points.filter(({ place }) => file.blamed.includes(place)),
                { x: 'place', y: 'chance', fill: 'none', stroke: 'var(--bad)', strokeWidth: 2.5, r: 9 },
              ),
              tip([...points, ...instead], pointer({ x: 'place', y: 'chance', title: 'title' })),
            ],
          };
        }}
      />
    </Card>
  );
}

function MessagesCard({ file }: { readonly file: BlameFile }) {
  const [opened, setOpened] = useState<Message | undefined>();
  const toneOf = (message: Message): Tone => (file.blamed.includes(message.place) ? 'bad' : 'plain');
  const columns: Column<Message>[] = [
    { header: 'message', value: (message) => `${message.place} ${nameMessage(message)}` },
    {
      header: 'verdict',
      value: ({ verdict }) => verdict,
      cell: (message) => <Badge tone={toneOf(message)}>{message.verdict}</Badge>,
    },
    { header: 'type', isWide: true, value: ({ type }) => toLine(type, 60) },
    {
      header: 'right',
      isNumber: true,
      value: ({ chance }) => chance,
      format: formatPercent,
      explain: 'The chance of a right answer once all messages up to this one are as they were.',
    },
    {
      header: 'said again',
      isNumber: true,
      value: ({ again }) => again.chance,
      format: formatPercent,
      explain: 'The chance where its sender speaks again instead.',
    },
    { header: 'change and interval', isWide: true, value: ({ again }) => formatEffect(again) },
    ...REPLACED.map(
      (what): Column<Message> => ({
        header: what,
        isNumber: true,
        isWide: true,
        value: ({ replaced }) => replaced[what]?.chance ?? null,
        format: formatPercent,
        explain: `The chance with ${REPLACEMENTS[what].words} instead.`,
      }),
    ),
  ];
  return (
    <Card title="Messages" nav="Messages" id="messages" about="Open a message to read what it said.">
      <ResultTable
        label="Messages"
        rows={file.messages}
        columns={columns}
        opened={opened}
        onOpen={(message) => setOpened(message === opened ? undefined : message)}
        detail={({ place, says }) => <Source text={says} label={`Message ${place}`} />}
      />
    </Card>
  );
}
