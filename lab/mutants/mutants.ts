import { edgeMutants } from './edge-mutants.ts';
import { hubMutants } from './hub-mutants.ts';
import type { Mutant } from './mutant.ts';
import { wireMutants } from './wire-mutants.ts';

/** Bugs in what the project promises: one promise each, as somebody might make them. */
export const mutants: readonly Mutant[] = [...wireMutants, ...hubMutants, ...edgeMutants];
