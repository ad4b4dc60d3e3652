import type { AttemptMemory } from './roles/memory/attempt-memory.ts';

/** Whether an answer is right, by the scorer of the benchmark. */
export type IsRight = (answer: string, truth: string) => boolean;

/** What some tools need of the rooms above them. Whoever starts an agent hands it in; each is loaded when a tool asks for it. */
export interface ToolServices {
  /** @param place a file, or the URL of a server */
  readonly openMemory: (place: string) => Promise<AttemptMemory>;
  readonly loadScorer: () => Promise<IsRight>;
}

/** For tools that need none, and for whoever only wants to know what tools there are. */
export const noServices: ToolServices = {
  openMemory: () => Promise.reject(new Error('this process has no memory of attempts')),
  loadScorer: () => Promise.reject(new Error('this process has no scorer')),
};
