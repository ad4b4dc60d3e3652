import { DOC_INIT } from '../contracts/packet.ts';
import type { Emission, Tool } from '../contracts/tool.ts';
import { toolOf } from './mesh.ts';

export const final = (answer: string | number): Emission => ({
  type: 'data_event',
  tag: 'final_answer',
  payload: { answer },
});

/** Answers every document with `answer`. */
export const answering = (answer: string | number, accepts = DOC_INIT): Tool =>
  toolOf(accepts, 'data_event', async () => [final(answer)]);

/** Passes each packet on as another type. */
export const passing = (accepts: string, emits: string): Tool =>
  toolOf(accepts, emits, async (packet) => [{ type: emits, payload: packet.payload }]);
