/**
 * @typedef {import('@gaia-mesh/core/run/run-event.ts').RunEvent} RunEvent
 *
 * Events as this page has them: what happens to an agent, a question or a run, and the sentences of the news.
 * @typedef {{ n: number, at: number }} Stamp
 * @typedef {Stamp & (
 *   | { kind: 'run', run: string, team: string, adapter: string, engine: string, agents: { id: string, tool: string }[], questions: number | null }
 *   | { kind: 'agent', id: string, state: 'up' | 'lost', text: string }
 *   | { kind: 'packet', id: string, from: string, to: string | null, type: string, tag?: string | undefined, task: string, bytes: number, tokens: number, copies: number }
 *   | { kind: 'question', id: string, state: 'asked' | 'answered' | 'timeout' | 'failed', text?: string, answer?: string, correct?: boolean | null, seconds?: number, tokens?: number | null, cost?: number | null, reason?: string, cached?: boolean }
 *   | { kind: 'fault', what: string, text: string }
 *   | { kind: 'note', text: string }
 *   | { kind: 'progress', share: number, text: string }
 *   | { kind: 'sample', arm: string, ms: number | null, bytes: number | null }
 *   | { kind: 'totals', packets: number, bytes: number, tokens: number, unshown: number, agents: Record<string, { packets: number, bytes: number, tokens: number }>, faults: Record<string, number> }
 *   | { kind: 'end', text: string }
 * )} WatchEvent
 */

/**
 * Turns an event of a run into those of the page.
 *
 * @param {RunEvent} event
 * @param {number} startMs the time of the first event
 * @returns {WatchEvent[]}
 */
export function toWatchEvents(event, startMs) {
  const stamp = { n: event.n ?? 0, at: event.time - startMs };
  switch (event.event) {
    case 'run_began': {
      const { run_id: run, team, adapter, engine, agents, questions } = event;
      return [{ ...stamp, kind: 'run', run, team, adapter, engine, agents, questions }];
    }
    case 'agent_up': {
      const text = `${event.where}${event.pid === undefined ? '' : `, process ${event.pid}`}`;
      return [{ ...stamp, kind: 'agent', id: event.id, state: 'up', text }];
    }
    case 'agent_lost':
    case 'agent_died': {
      const why = event.event === 'agent_lost' ? event.reason : event.how;
      const text = `agent ${event.id} (${event.tool}) is gone: ${why}`;
      return [
        { ...stamp, kind: 'agent', id: event.id, state: 'lost', text: why },
        { ...stamp, kind: 'fault', what: 'lost', text },
      ];
    }
    case 'task_began':
      return [{ ...stamp, kind: 'question', id: event.task_id, state: 'asked', text: event.question }];
    case 'task_ended': {
      const right = event.correct ?? event.normalized_em ?? null;
      const { question: text, reason, cost_usd: cost, cached } = event;
      const told = { text, answer: event.answer ?? undefined, reason, cost, cached };
      return [
        {
          ...stamp,
          kind: 'question',
          id: event.task_id,
          state: event.status,
          correct: right === null ? null : right === 1,
          seconds: event.elapsed_ms / 1000,
          tokens: event.token_sum,
          // Each event of a question adds to the earlier ones.
          ...Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined)),
        },
      ];
    }
    case 'broadcast':
    case 'packet': {
      const { id, from, to = null, type, tag, task_id: task, bytes, token_used: tokens, recipients } = event;
      return [{ ...stamp, kind: 'packet', id, from, to, type, tag, task, bytes, tokens, copies: recipients }];
    }
    case 'refused':
      return [{ ...stamp, kind: 'fault', what: 'refused', text: `from ${event.from}: ${event.reason}` }];
    case 'fault':
    case 'undeliverable': {
      const { kind, type, id, from, to } = event;
      return [{ ...stamp, kind: 'fault', what: kind, text: `${kind}: ${type} ${id} from ${from} to ${to}` }];
    }
    case 'fault_began':
      return [{ ...stamp, kind: 'fault', what: 'fault', text: `fault: ${event.fault}` }];
    case 'fault_ended':
      return [{ ...stamp, kind: 'fault', what: 'fault', text: `fault: ${event.fault} is over` }];
    case 'restart':
      return [{ ...stamp, kind: 'fault', what: 'fault', text: event.news }];
    case 'totals': {
      const { packets, bytes, tokens, unshown, agents, faults } = event;
      return [{ ...stamp, kind: 'totals', packets, bytes, tokens, unshown, agents, faults }];
    }
    case 'sample':
      return [{ ...stamp, kind: 'sample', arm: event.arm, ms: event.ms, bytes: event.bytes }];
    case 'progress':
      return [{ ...stamp, kind: 'progress', share: event.share, text: event.text }];
    case 'note':
      return [{ ...stamp, kind: 'note', text: event.text }];
    case 'cut':
      return [{ ...stamp, kind: 'note', text: event.cut }];
    case 'stream_ended':
      return [{ ...stamp, kind: 'end', text: event.text }];
    default:
      return [];
  }
}
