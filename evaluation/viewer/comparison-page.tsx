import { useState } from 'preact/hooks';
import type { ComparisonView } from '../report/comparison/comparison-view.ts';
import type { StacksView } from '../report/stacks/stacks-view.ts';
import { Stack } from './chart.tsx';
import { DensitiesCard, PanelsCard, RatioTable, SamplesCard, SaveFile, StackedCard } from './figures.tsx';
import { formatBytes, formatCount, formatSigned, toLine } from './format.ts';
import { Card, Choice, Key, Notes, Title } from './parts.tsx';
import { type Column, ResultTable, TextTable } from './result-table.tsx';
import { BYTE_PARTS } from './run/bytes.tsx';

/** Adapters on the same packets. */
export function ComparisonPart({
  view,
  isFirst,
}: {
  readonly view: ComparisonView;
  readonly isFirst: boolean;
}) {
  const { time, rounds, latency, groups, file } = view;
  return (
    <>
      <Title isFirst={isFirst} title={view.sentence} lede={view.made} command={view.command} />
      <Notes texts={view.warnings.map((warning) => `Warning: ${warning}.`)} />
      <div class="grid">
        <Card
          title="Time"
          nav="Time"
          id="times"
          about={`${time.finding}. In the band (${time.equal.text}) ratios count as equal.`}
        >
          <RatioTable
            label="Time against the baseline"
            ratios={time.ratios}
            equal={time.equal}
            figure="task time"
          />
          <details>
            <summary>How a verdict is found</summary>
            <p class="about">
              {`Task time against ${view.baseline}, each adapter in fresh processes of its own. A pair is equal where two one-sided tests show that, different where the interval does not reach 1× and a test corrected for the number of adapters agrees, and else it cannot be told. The null test: ${time.nullTest}.`}
            </p>
          </details>
        </Card>
        <WaterfallCard view={view} />
        <Card title="What each adapter costs" nav="All figures" id="costs" about={view.columns}>
          <TextTable label="What each adapter costs" view={view.table} />
        </Card>
        {latency === null ? null : (
          <SamplesCard
            id="latency"
            title="Samples"
            view={latency}
            about="Each tick is one sample: all packets through the live mesh, so many times that it lasts."
          />
        )}
        {groups.length === 0 ? null : (
          <Card
            title="Bytes by kind of traffic and by size"
            id="groups"
            size="half"
            about={`Times the bytes of ${view.baseline} for the same packets; in brackets how many there are. An envelope weighs less where payloads are large.`}
          >
            {groups.map((table) => (
              <TextTable
                key={table.columns.map(({ title }) => title).join()}
                label="Bytes by kind and size"
                view={table}
              />
            ))}
          </Card>
        )}
        {rounds === null ? null : <PanelsCard id="rounds" title="Rounds over time" view={rounds} />}
        <AgainCard file={file} name="comparison.json" limits={ADAPTER_LIMITS} />
      </div>
    </>
  );
}

const ADAPTER_LIMITS = [
  'Loopback has no distance and no narrow line. Where a byte costs time, sizes weigh more than here: --network wan.',
  'A2A and MCP normally ride on HTTP and TLS: compare --stacks measures them there.',
  'With larger payloads envelopes weigh less.',
  'Times are those of these JavaScript libraries, not of the formats.',
];

type Waterfall = ComparisonView['bytes']['waterfalls'][number];

/** Bytes beside the payload, which is the same for all: what a coding saves is left of nothing. */
function WaterfallCard({ view: { bytes } }: { readonly view: ComparisonView }) {
  const [isWhole, setWhole] = useState(0);
  const partsOf = ({ steps }: Waterfall) =>
    steps
      .filter(({ part }) => isWhole === 1 || part !== 'payload')
      .map(({ part, from, to }) => ({
        name: part,
        value: to - from,
        hue: BYTE_PARTS.find(({ key }) => key === part)?.hue ?? '--s5',
      }));
  const sums = bytes.waterfalls.map((row) => partsOf(row));
  const sum = (parts: ReturnType<typeof partsOf>, way: 1 | -1) =>
    parts.reduce((total, { value }) => total + Math.max(0, way * value), 0);
  const low = -Math.max(0, ...sums.map((parts) => sum(parts, -1)));
  const high = Math.max(1, ...sums.map((parts) => sum(parts, 1)));
  const columns: Column<Waterfall>[] = [
    { header: 'adapter', value: ({ label }) => label },
    { header: 'bytes', isNumber: true, value: ({ wire }) => wire, format: formatCount },
    {
      header: 'beyond the payload',
      isNumber: true,
      value: ({ wire, payload }) => wire - payload,
      format: formatSigned,
    },
    {
      header: 'by what they are for',
      value: () => '',
      cell: (row) => <Stack parts={partsOf(row)} low={low} high={high} />,
    },
  ];
  return (
    <Card
      title="Where the bytes are"
      nav="Bytes"
      id="bytes"
      about={`${bytes.finding}. Bytes are exact; the payload of ${formatBytes(bytes.waterfalls[0]?.payload ?? 0)} is the same for all.`}
      tools={
        <Choice
          label="Bytes"
          names={['beyond the payload', 'all bytes']}
          chosen={isWhole}
          onChoice={setWhole}
        />
      }
    >
      <ResultTable label="Where the bytes are" rows={bytes.waterfalls} columns={columns} />
      <p class="legend">
        {BYTE_PARTS.filter(({ key }) => isWhole === 1 || key !== 'payload').map(
          ({ key, name, hue: colour }) => (
            <Key key={key} hue={colour}>
              {name}
            </Key>
          ),
        )}
        {low < 0 ? 'left of the line: saved' : ''}
      </p>
      <details>
        <summary>Figures</summary>
        <TextTable label="Bytes, figures" view={bytes.table} />
      </details>
    </Card>
  );
}

interface AgainProps {
  readonly file: object;
  readonly name: string;
  readonly limits: readonly string[];
}

function AgainCard({ file, name, limits }: AgainProps) {
  return (
    <Card title="What these numbers cannot tell" nav="Limits" id="limits">
      <ul class="list">
        {limits.map((limit) => (
          <li key={limit}>{limit}</li>
        ))}
      </ul>
      <p class="about">
        To disagree, measure again with the command above, on a machine of yours. All that was measured,
        single rounds and samples too: <SaveFile file={file} name={name} />
      </p>
    </Card>
  );
}

/** Protocols on their real transports. */
export function StacksPart({ view, isFirst }: { readonly view: StacksView; readonly isFirst: boolean }) {
  const { pairs, attribution, latency, curves, throughput, sizes, growth, rounds, tokens } = view;
  const [chosen, setChosen] = useState(0);
  const figure = pairs.figures[chosen] ?? pairs.figures[0];
  return (
    <>
      <Title isFirst={isFirst} title={view.sentence} lede={view.made} command={view.command} />
      <Notes
        texts={[
          ...view.warnings.map((warning) => `Warning: ${warning}.`),
          ...view.failed.map((what) => `Failed: ${what}.`),
          ...view.absent.map((what) => `Not measured: ${what}.`),
        ]}
      />
      <div class="grid">
        <Card
          title="Each against the first"
          nav="Pairs"
          id="pairs"
          about={
            figure === undefined
              ? 'There is no pair to compare.'
              : `${figure.finding}. In the band (${pairs.equal.text}) ratios count as equal. ${view.nullTest}.`
          }
          tools={
            pairs.figures.length < 2 ? undefined : (
              <Choice
                label="Figure shown"
                names={pairs.figures.map(({ name }) => name)}
                chosen={chosen}
                onChoice={setChosen}
              />
            )
          }
        >
          {figure === undefined ? null : (
            <>
              <RatioTable
                label={`Ratios of the ${figure.name}`}
                ratios={figure.ratios}
                equal={pairs.equal}
                figure={figure.name}
              />
              <details>
                <summary>All figures of the pairs</summary>
                <TextTable label={`Pairs by ${figure.name}`} view={figure.table} />
              </details>
            </>
          )}
        </Card>
        {attribution === null ? null : (
          <StackedCard id="why" nav="Why" title="What makes the difference" view={attribution} />
        )}
        <StackedCard id="bytes" nav="Bytes" title="Bytes of an exchange" view={view.bytes} />
        {latency === null ? (
          <Card
            title="How long an exchange takes"
            about="No stack kept up with the rate, so there are no times to draw."
          />
        ) : (
          <DensitiesCard id="latency" nav="Latency" title="How long an exchange takes" view={latency} />
        )}
        {sizes === null ? null : <PanelsCard id="sizes" title="Latency by size" view={sizes} />}
        {curves === null ? null : <PanelsCard id="load" nav="Load" title="Latency by load" view={curves} />}
        {throughput === null ? null : (
          <PanelsCard id="throughput" title="Throughput by concurrency" view={throughput} />
        )}
        <StackedCard id="cpu" nav="CPU, memory" title="CPU time of an exchange" view={view.cpu} />
        {growth === null ? null : <PanelsCard id="growth" title="Memory as a task grows" view={growth} />}
        <StackedCard id="setup" nav="Set-up" title="Before the first exchange" view={view.setup} />
        <Card title="Tokens that a model reads" nav="Tokens" id="tokens" about={tokens.note}>
          {tokens.tables.map((table, index) => (
            <TextTable
              key={table.columns.map(({ title }) => title).join()}
              label={`Tokens ${toLine(String(index + 1))}`}
              view={table}
            />
          ))}
        </Card>
        {rounds === null ? null : <PanelsCard id="rounds" title="Rounds over time" view={rounds} />}
        <AgainCard file={view.file} name="comparison.json" limits={view.limits} />
      </div>
    </>
  );
}
