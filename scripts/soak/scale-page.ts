import os from 'node:os';
import { packageVersion } from '../../config/package-root.ts';
import { median } from '../../core/statistics/quantile.ts';
import { markdownTable } from '../markdown-table.ts';
import { machine } from '../perf/results-page.ts';
import { count, decimals } from '../terminal/table.ts';
import type { ScalePoint } from './scale-point.ts';
import { ALL_AHEAD } from './swarm.ts';

const MEGABYTE = 2 ** 20;

/** One row a point; the first is the heading. */
export function scaleRows(points: readonly ScalePoint[]): string[][] {
  const mb = (bytes: number) => `${decimals(bytes / MEGABYTE, 0)} MB`;
  const head = ['agents', 'processes', 'set-up, median (best–worst)', 'packets/s', 'deliveries/s'];
  return [
    [...head, 'hub idle', 'hub at most', 'books'],
    ...points.map((point) => [
      count(point.agents),
      count(point.processes),
      setUp(point.setUpMs),
      count(point.packetsPerS),
      count(point.deliveriesPerS),
      mb(point.idleRss),
      mb(point.peakRss),
      point.isBalanced ? 'balanced' : 'NOT balanced',
    ]),
  ];
}

/** `docs/scale.md` */
export function scalePage(points: readonly ScalePoint[], seconds: number, revision: string): string {
  return `# Scale on one machine

Written by \`npm run scale -- --write\`; do not edit.

- ${machine()}
- Gaia Mesh ${packageVersion}, revision ${revision}; adapter json, routing broadcast, payloads of 16 B to 1.5 KB
- ${new Date().toISOString().slice(0, 10)}; load of the machine at the end ${os.loadavg()[0]?.toFixed(1)}

Synthetic agents, many in a process, send to all others as fast as the hub lets them, for ${seconds} s; all together at most ${count(ALL_AHEAD)} packets
ahead of what they have heard. Each point is measured by a hub process of its own.

${markdownTable(scaleRows(points))}

${curve('Set-up, ms', points, ({ setUpMs }) => median(setUpMs))}

${curve('Deliveries a second, thousands', points, ({ deliveriesPerS }) => deliveriesPerS / 1000)}

${curve('Memory of the hub at most, MB', points, ({ peakRss }) => peakRss / MEGABYTE)}

- **Set-up**: dialling every agent and shaking hands with each (two proofs a connection), from the first dial to the last \`ready\`;
  the processes were up already.
- **Deliveries**: copies that the hub wrote. Every agent reads all others' packets, so N agents mean N − 1 copies of each.
- **Memory**: the hub's process, resident: connected and idle, and the most while it was flooded.

The agents run on the same cores as the hub, check every packet's order, and keep books: here they are the bottleneck, not the hub, whose
own limits \`npm run perf\` shows. What the curve shows is that set-up and memory grow no faster than the number of agents.
`;
}

/** As a Mermaid chart, over the numbers of agents: https://mermaid.js.org/syntax/xyChart.html */
function curve(title: string, points: readonly ScalePoint[], of: (point: ScalePoint) => number): string {
  const values = points.map((point) => of(point).toFixed(1));
  return `\`\`\`mermaid
xychart-beta
  title "${title}"
  x-axis "agents" [${points.map(({ agents }) => agents).join(', ')}]
  line [${values.join(', ')}]
\`\`\``;
}

function setUp(sorted: readonly number[]): string {
  const [best = 0] = sorted;
  const worst = sorted.at(-1) ?? 0;
  return `${decimals(median(sorted), 1)} ms (${decimals(best, 1)}–${decimals(worst, 1)})`;
}
