import { MAX_FRAME_BYTES } from '../../../../core/contracts/limits.ts';
import type { BindingTraits } from '../../contract/binding.ts';

/** Of packets in requests, without a protocol of agents: the response says that the exchange is over. */
export const httpTraits: BindingTraits = {
  replies: 'same exchange',
  oneWay: 'acknowledged',
  later: ['hold'],
  hasTls: true,
  largestMessageBytes: MAX_FRAME_BYTES,
};
