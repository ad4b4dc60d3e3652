import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { EngineOptions } from '../engine-options.ts';

/** The embedded engine's own options. What is meant for models (`tool_calls`, `context`) says nothing to it. */
const settingsSchema = z.looseObject({
  /** 0: always the most probable answer; 1: each as often as it is probable. */
  temperature: z.number().min(0).max(5).default(0.4),
  /** Of what is drawn: the same seed repeats a run. */
  seed: z.int().default(1),
  /** The least probability with which an answer is given. Of less sure ones fewer than one in ten is right. */
  threshold: z.number().min(0).max(1).default(0.1),
  /** A file of weights for tables, instead of those that ship: to measure what was trained without the questions that are asked. */
  weights: z.string().min(1).optional(),
});

export type EmbeddedSettings = z.infer<typeof settingsSchema>;

/** @throws MeshError `usage` */
export function parseEmbeddedSettings(options: EngineOptions['options'] = {}): EmbeddedSettings {
  const parsed = settingsSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  throw new MeshError('usage', `options of the extractive engine: ${formatIssues(parsed.error)}`);
}
