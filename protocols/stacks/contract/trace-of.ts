import type { Packet } from '../../../core/contracts/packet.ts';
import { traceparentOf } from '../../../core/recording/trace-context.ts';
import type { StackSettings } from './stack.ts';

/** The trace context (W3C) of what a packet causes at a server; nothing unless the settings name its run. */
export function traceOf(
  { runId }: Pick<StackSettings, 'runId'>,
  { id, task_id }: Packet,
): { readonly traceparent: string } | undefined {
  return runId === undefined
    ? undefined
    : { traceparent: traceparentOf({ runId, taskId: task_id, packetId: id }) };
}
