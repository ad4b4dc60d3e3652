import type { NewRunEvent } from '@gaia-mesh/core/run/run-event.ts';

/** Describes a loss, a refusal or a fault for people; returns undefined for any other event. */
export function describeTrouble(event: NewRunEvent): string | undefined {
  switch (event.event) {
    case 'agent_lost':
      return `agent ${event.id} (${event.tool}) is gone: ${event.reason}`;
    case 'agent_died':
      return `agent ${event.id} (${event.tool}) is gone: ${event.how}`;
    case 'refused':
      return `refused from ${event.from}: ${event.reason} (${event.bytes ?? 0} B)`;
    case 'fault':
    case 'undeliverable': {
      const { kind, type, id, from, to } = event;
      const delay =
        'delay_ms' in event && event.delay_ms !== undefined ? ` by ${Math.round(event.delay_ms)} ms` : '';
      return `${kind}${delay}: ${type} ${id} from ${from} to ${to}`;
    }
    case 'fault_began':
      return `fault: ${event.fault}`;
    case 'restart':
      return event.news;
    default:
      return undefined;
  }
}
