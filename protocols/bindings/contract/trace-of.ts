import type { Packet } from '../../../core/contracts/packet.ts';
import { traceparentOf } from '../../../core/recording/trace-context.ts';
import type { BindingSettings } from './binding.ts';

/** The trace context (W3C) of what a packet causes at a server; nothing unless the settings name its run. */
export function traceOf(
  { runId }: Pick<BindingSettings, 'runId'>,
  { id, task_id }: Packet,
): { readonly traceparent: string } | undefined {
  return runId === undefined
    ? undefined
    : { traceparent: traceparentOf({ runId, taskId: task_id, packetId: id }) };
}
