import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as z from 'zod';
import { compiled } from './programs.ts';

const run = promisify(execFile);

const writeSchema = z.object({ asleep: z.number(), awake: z.number() });
const wakeSchema = z.object({ small: writeSchema, large: writeSchema });

/** What one write of 64 B (`small`) and of 64 KiB (`large`) takes when its reader sleeps, and when it is awake: medians, µs. */
export type Wake = z.infer<typeof wakeSchema>;

/** Takes a second. See `wake.c`. */
export async function measureWake(): Promise<Wake> {
  const { stdout } = await run(await compiled('wake'));
  return wakeSchema.parse(JSON.parse(stdout));
}
