import type { RecordedPacket, Recording } from '../../core/recording/recording.ts';
import { PREFIX_BYTES } from '../../core/wire/frame.ts';
import { openMembers } from '../../core/wire/members.ts';
import type { StacksFile } from '../../evaluation/compare/stacks/figures/stacks-file.ts';
import { count, decimals } from '../../evaluation/terminal/table.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import type { Claim, Expectation, Experiment } from './claim.ts';
import { encoded, measured } from './encodings.ts';

export const VERDICTS = ['reproduced', 'not reproduced', 'confounded', 'cannot tell'] as const;
type Verdict = (typeof VERDICTS)[number];

export interface Decided {
  readonly claim: Claim;
  readonly verdict: Verdict;
  /** Our figures, a line each; or why there are none. */
  readonly figures: readonly string[];
  /** Decided by bytes and tokens alone: the same on every machine. */
  readonly isExact: boolean;
}

/** What the claims are decided by. */
interface Evidence {
  /** The recording that ships. */
  readonly recording: Recording;
  /** What `compare --stacks` wrote. */
  readonly stacks: readonly StacksFile[];
}

/** What a test came to: whether the claim's ratio was found, or null where that cannot be said. */
interface Outcome {
  readonly holds: boolean | null;
  readonly figures: readonly string[];
}

/** A claim whose own comparison changed more than what it is about is confounded, whatever comes out here. */
export async function decide(claim: Claim, evidence: Evidence): Promise<Decided> {
  const { experiment, confounded, is_neighbour } = claim;
  const { holds, figures } = await outcomeOf(experiment, evidence);
  const isExact = confounded !== undefined || experiment.kind === 'encoding' || experiment.kind === 'adapter';
  if (confounded !== undefined) return { claim, verdict: 'confounded', figures, isExact };
  if (holds === true) return { claim, verdict: 'reproduced', figures, isExact };
  const isRefuted = holds === false && is_neighbour !== true;
  return { claim, verdict: isRefuted ? 'not reproduced' : 'cannot tell', figures, isExact };
}

async function outcomeOf(experiment: Experiment, { recording, stacks }: Evidence): Promise<Outcome> {
  switch (experiment.kind) {
    case 'none':
      return { holds: null, figures: [experiment.why] };
    case 'stack':
      return decideStack(experiment, stacks);
    case 'encoding': {
      const { of, against, measure, expect } = experiment;
      return compared(groupsOf(recording, experiment), expect, measure, [of, against], (packets, name) => {
        const encoding = name === of ? of : against;
        return packets.reduce(
          (sum, { packet }) => sum + measured(encoded(packet.payload, encoding), measure),
          0,
        );
      });
    }
    case 'adapter': {
      const { of, against, expect } = experiment;
      const [own, other] = [await wireBytes(recording, of), await wireBytes(recording, against)];
      return compared(groupsOf(recording, experiment), expect, 'bytes', [of, against], (packets, name) => {
        const bytes = name === of ? own : other;
        return packets.reduce((sum, { packet }) => sum + (bytes.get(packet.id) ?? 0), 0);
      });
    }
  }
}

/** The packets that the experiment is about: by part, or those of some types together. Documents that open tasks are in no type. */
function groupsOf(
  { header, packets }: Recording,
  { parts, types }: { readonly parts?: readonly string[]; readonly types?: readonly string[] },
): [name: string, packets: readonly RecordedPacket[]][] {
  if (types !== undefined)
    return [[types.join(', '), packets.filter(({ packet }) => types.includes(packet.type))]];
  return (header.parts ?? [])
    .filter(({ name }) => parts?.includes(name) ?? true)
    .map(({ name, tasks }) => [name, packets.filter(({ packet }) => tasks.includes(packet.task_id))]);
}

/** The claim holds where it holds in every group, or in one where it says no more. */
function compared(
  groups: readonly [string, readonly RecordedPacket[]][],
  expect: Expectation,
  measure: string,
  [of, against]: readonly [string, string],
  amount: (packets: readonly RecordedPacket[], name: string) => number,
): Outcome {
  const figures: string[] = [];
  let held = 0;
  for (const [name, packets] of groups) {
    const [own, other] = [amount(packets, of), amount(packets, against)];
    const ratio = own / other;
    if (isWithin(ratio, expect)) held += 1;
    const counted = `${packets.length} packet${packets.length === 1 ? '' : 's'} of ${name}`;
    figures.push(
      `${of} ${count(own)}, ${against} ${count(other)} ${measure}, ×${decimals(ratio, 3)} (${counted})`,
    );
  }
  const isEnough = expect.somewhere === true ? held > 0 : held === groups.length;
  return { holds: groups.length > 0 && isEnough, figures };
}

function isWithin(ratio: number, { at_least, at_most }: Expectation): boolean {
  return ratio >= (at_least ?? 0) && ratio <= (at_most ?? Number.POSITIVE_INFINITY);
}

async function wireBytes({ header, packets }: Recording, name: string): Promise<ReadonlyMap<string, number>> {
  const codecs = openMembers(
    await adapterNamed(name),
    header.run_id,
    header.agents.map(({ id }) => id),
  );
  return new Map(
    packets.map(({ packet }) => [
      packet.id,
      PREFIX_BYTES + (codecs.get(packet.from)?.encode(packet).length ?? 0),
    ]),
  );
}

/** Decided by the verdict about the pair: a difference that was not shown is none that the claim could rest on. */
function decideStack(
  { of, against, figure, expect }: Extract<Experiment, { kind: 'stack' }>,
  files: readonly StacksFile[],
): Outcome {
  for (const { baseline, arms } of files) {
    const judged = arms.find(({ name }) => name === of)?.vs_baseline?.[figure];
    if (baseline !== against || judged === undefined || judged === null) continue;
    const { verdict, ratio, low, high } = judged;
    const interval = `${decimals(low, 2)} to ${high === null ? '∞' : decimals(high, 2)}`;
    const figures = [
      `${of} against ${against}: ×${decimals(ratio, 2)} of its ${figure}, 95 % ${interval}: ${verdict}`,
    ];
    return { holds: verdict === 'cannot tell' ? null : isWithin(ratio, expect), figures };
  }
  const [first, second] = [against, of].map((name) => name.split(' ')[0]);
  const implementation = of.split(' ')[1] ?? 'sdk';
  const command = `npm run compare -- --stacks ${first},${second} --implementation ${implementation} --out DIR`;
  return {
    holds: null,
    figures: [`not measured: \`${command}\`, then \`npm run lab:claims -- --stacks DIR/stacks.json\``],
  };
}
