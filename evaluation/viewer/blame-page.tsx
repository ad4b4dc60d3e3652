import { useState } from 'preact/hooks';
import type { BlameFile } from '../blame/blame-file.ts';
import { computeWilson } from '../statistics/inference/confidence.ts';
import { count, formatDecimals, formatPercent } from '../terminal/table.ts';
import { createForestColumn } from './chart.tsx';
import { toLine } from './format.ts';
import { Badge, Card, Facts, Notes, Source, Title, type Tone } from './parts.tsx';
import { type Column, createFigure, ResultTable } from './result-table.tsx';

type Message = BlameFile['messages'][number];
type Effect = Message['again'];

/** The search for the message that made an answer wrong. */
export function BlamePage({ file }: { readonly file: BlameFile }) {
  const { branches, tries, margin, engine, model } = file;
  const [answer = '', ...more] = file.headline.split(/(?<=\.) (?=[A-Z])|: /);
  const rest = more.join(' ');
  return (
    <>
      <Title
        title={answer}
        lede={`${rest.charAt(0).toUpperCase()}${rest.slice(1)} “${toLine(file.question, 400)}” Each message was replaced in turn, and the rest of the run went on from there, ${count(tries)} times or more.`}
        command={file.command}
        when={file.measured_at}
        made={[
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
                `${count(branches.departed)} branches were not as it was recorded, and are left out. The first: ${file.departed ?? ''}`,
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
            explain: 'In the recorded run, by the batch’s scorer.',
          },
          { name: 'True answer', value: toLine(file.truth, 60), explain: 'As the file of questions has it.' },
          {
            name: 'Right if asked again',
            value: formatPercent(file.outset.chance, 0),
            note: `${count(file.outset.tries)} tries`,
            explain: 'The chance of a right answer where nothing is as it was.',
          },
          {
            name: 'Branches',
            value: count(branches.asked),
            note: `${count(branches.failed)} without an answer`,
            explain: 'Number of continuations of the run, each from a replaced message.',
          },
          {
            name: 'Tokens',
            value: branches.tokens === null ? '–' : count(branches.tokens),
            note: branches.cost === null || branches.cost === 0 ? undefined : `$${branches.cost.toFixed(4)}`,
            explain: 'Tokens of all branches, by the servers’ own counts where they gave them.',
          },
        ]}
      />
      <div class="grid">
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

function MessagesCard({ file }: { readonly file: BlameFile }) {
  const [opened, setOpened] = useState<Message | undefined>();
  const chooseTone = (message: Message): Tone => (file.blamed.includes(message.place) ? 'bad' : 'plain');
  const scale = {
    low: 0,
    high: 1,
    isLog: false,
    zero: file.outset.chance,
    ticks: [0, 0.25, 0.5, 0.75, 1],
    format: (share: number) => formatPercent(share, 0),
  };
  const columns: Column<Message>[] = [
    { header: 'message', value: (message) => `${message.place} ${nameMessage(message)}` },
    {
      header: 'verdict',
      value: ({ verdict }) => verdict,
      cell: (message) => <Badge tone={chooseTone(message)}>{message.verdict}</Badge>,
    },
    createForestColumn(
      'chance of a right answer',
      scale,
      (message) => {
        const { chance, tries } = message;
        const { low, high } = computeWilson(Math.round(chance * tries), tries);
        return { at: chance, low, high, tone: chooseTone(message) };
      },
      'Dot: with all messages up to this one as they were; line: 95 % interval. Dotted: if the question is asked again from the start. The chance falls at the message that made the answer wrong.',
    ),
    { header: 'type', value: ({ type }) => toLine(type, 60), rank: 1 },
    createFigure(
      'right',
      ({ chance }) => chance,
      formatPercent,
      'the chance of a right answer once all messages up to this one are as they were',
    ),
    createFigure(
      'said again',
      ({ again }) => again.chance,
      formatPercent,
      'the chance where its sender speaks again instead',
    ),
    { header: 'change and interval', value: ({ again }) => formatEffect(again), rank: 1 },
    createFigure(
      'truth',
      ({ replaced }) => replaced.truth?.chance ?? null,
      formatPercent,
      'the chance with the true answer in its place',
      1,
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
