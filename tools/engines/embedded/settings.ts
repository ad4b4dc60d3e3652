import * as z from 'zod';
import type { EngineOptions } from '../engine-options.ts';
import { createOptionError } from '../engine-settings.ts';

/** The embedded engine's own options. Options for models (`tool_calls`, `context`) have no effect. */
const settingsSchema = z.looseObject({
  /** 0: always the most probable answer; 1: each answer as often as its probability. */
  temperature: z.number().min(0).max(5).default(0.4),
  /** The seed of draws: the same seed repeats a run. */
  seed: z.int().default(1),
  /** Minimum probability of an answer, in place of those that were calibrated for texts and for tables. */
  threshold: z.number().min(0).max(1).optional(),
  /** A file of weights for tables in place of the shipped one, to evaluate weights that were trained without the test questions. */
  weights: z.string().min(1).optional(),
});

/** Names of the options that have an effect on the embedded engine. */
export const embeddedOptions: readonly string[] = Object.keys(settingsSchema.shape);

/** @throws MeshError `usage` */
export function parseEmbeddedSettings(
  options: EngineOptions['options'] = {},
): z.infer<typeof settingsSchema> {
  const parsed = settingsSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  throw createOptionError('extractive', options, [parsed]);
}
