import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { type Figures, figuresOf, inFolder, runBench } from './measure.ts';

const metricsSchema = z.object({
  elapsed_ms: z.number(),
  hops: z.array(z.object({ tool_us: z.number().nullable() })),
});

export interface StartFigures {
  /** Milliseconds from `npm run bench` to the prompt. */
  readonly wallMs: Figures;
  /** Milliseconds from the broadcast to the final answer that were not spent in a tool. */
  readonly meshMs: Figures;
}

/** How long a person waits for the default run. The first, which compiles the code, is not counted. */
export function measureStart(rounds: number): Promise<StartFigures> {
  return inFolder(async (folder) => {
    const wallMs: number[] = [];
    const meshMs: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const run = await runBench(folder, []);
      const metrics = metricsSchema.parse(
        JSON.parse(readFileSync(path.join(folder, 'metrics.json'), 'utf8')),
      );
      const toolMs = metrics.hops.reduce((sum, hop) => sum + (hop.tool_us ?? 0), 0) / 1000;
      if (round === 0) continue;
      wallMs.push(run.wallMs);
      meshMs.push(metrics.elapsed_ms - toolMs);
    }
    return { wallMs: figuresOf(wallMs), meshMs: figuresOf(meshMs) };
  });
}
