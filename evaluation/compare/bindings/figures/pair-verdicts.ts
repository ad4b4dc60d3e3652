import { type JudgedLevels, judgeLevels } from '../../../statistics/level-verdicts.ts';
import { measureLevels } from '../../../statistics/levels.ts';
import type { BindingArm } from './bindings-file.ts';

type Samples = BindingArm['samples'];

/** JSON's null is ∞, see `bindings-file.ts`. */
export interface PairVerdicts {
  readonly latency: JudgedLevels | null;
  readonly cpu: JudgedLevels | null;
  readonly saturated: JudgedLevels | null;
}

const FIGURES = {
  latency: 'latency_us',
  cpu: 'cpu_us',
  saturated: 'saturated_us',
} as const satisfies Record<keyof PairVerdicts, keyof Samples>;

/** Verdicts over all arms that one table sets against the baseline, a figure at a time: those of one figure are judged together. */
export function verdictsOf(baseline: Samples, others: readonly Samples[], margin: number): PairVerdicts[] {
  const verdicts = others.map((): { -readonly [Key in keyof PairVerdicts]: PairVerdicts[Key] } => ({
    latency: null,
    cpu: null,
    saturated: null,
  }));
  for (const [key, figure] of Object.entries(FIGURES)) {
    const own = others.map((samples, index) => ({ index, samples: samples[figure] }));
    const comparable = own.filter(({ samples }) => samples.length > 0 && baseline[figure].length > 0);
    if (comparable.length === 0) continue;
    const measured = comparable.map(({ samples }) => measureLevels(baseline[figure], samples));
    judgeLevels(measured, { margin }).forEach((judged, at) => {
      const verdict = verdicts[comparable[at]?.index ?? -1];
      if (verdict !== undefined && isFigure(key)) verdict[key] = judged;
    });
  }
  return verdicts;
}

function isFigure(key: string): key is keyof PairVerdicts {
  return key in FIGURES;
}
