import { DOC_INIT, type JsonObject } from '../../core/contracts/packet.ts';
import type { RecordedPacket } from '../../core/recording/recording.ts';
import { packageVersion } from '../../core/system/package-root.ts';
import type { ExportedRun } from './exported-run.ts';
import { WallClock } from './otlp/wall-clock.ts';

/** Harbor's Agent Trajectory Interchange Format, of which this is written. */
const VERSION = 'ATIF-v1.7';

/**
 * A run's tasks as trajectories in ATIF, a JSON line each. A team is one agent to the outside, so what its agents ask of each other is
 * what this agent does: each request is a call of a tool, and its answer the observation; what nobody asked for is a step of its own.
 */
export function atifTrajectories(exported: ExportedRun): string {
  const clock = new WallClock(exported.recording);
  const tasks = Map.groupBy(exported.recording.packets, ({ packet }) => packet.task_id);
  return [...tasks]
    .map(([task, own]) => `${JSON.stringify(trajectory(exported, task, own, clock))}\n`)
    .join('');
}

function trajectory(
  { recording, exchanges }: ExportedRun,
  task: string,
  packets: readonly RecordedPacket[],
  clock: WallClock,
) {
  const { header } = recording;
  const answers = new Map(
    packets.flatMap(({ packet }) => (packet.reply_to === undefined ? [] : [[packet.reply_to, packet]])),
  );
  const asked = new Set(packets.map(({ packet }) => packet.id));
  const steps = packets
    // The answer to a request is on the request's step.
    .filter(({ packet: { reply_to } }) => reply_to === undefined || !asked.has(reply_to))
    .map((recorded, index) => {
      const { packet } = recorded;
      const timestamp = new Date(clock.arrival(recorded) / 1000).toISOString();
      const about = { step_id: index + 1, timestamp };
      if (packet.type === DOC_INIT) return { ...about, source: 'user', message: messageOf(packet.payload) };
      const answer = answers.get(packet.id);
      const extra = { agent: packet.from, type: packet.type, packet: packet.id };
      const tokens = packet.token_used + (answer?.token_used ?? 0);
      const metrics = tokens === 0 ? {} : { metrics: { extra: { tokens } } };
      if (answer === undefined)
        return { ...about, source: 'agent', message: messageOf(packet.payload), extra, ...metrics };
      return {
        ...about,
        source: 'agent',
        message: '',
        tool_calls: [{ tool_call_id: packet.id, function_name: answer.from, arguments: packet.payload }],
        observation: { results: [{ source_call_id: packet.id, content: JSON.stringify(answer.payload) }] },
        extra,
        ...metrics,
      };
    });
  const own = exchanges.filter(({ taskId }) => taskId === task).map(({ exchange }) => exchange);
  const models = [...new Set(own.map(({ model }) => model))];
  const sum = (counts: readonly (number | null)[]) =>
    counts.reduce<number>((all, count) => all + (count ?? 0), 0);
  return {
    schema_version: VERSION,
    session_id: `${header.run_id}/${task}`,
    agent: {
      name: header.team,
      version: packageVersion,
      ...(models.length === 0 ? {} : { model_name: models.join(', ') }),
    },
    steps,
    final_metrics: {
      total_steps: steps.length,
      ...(own.length === 0
        ? {}
        : {
            total_prompt_tokens: sum(own.map(({ promptTokens }) => promptTokens)),
            total_completion_tokens: sum(own.map(({ completionTokens }) => completionTokens)),
          }),
    },
  };
}

/** An answer, a question or a text as such; anything else as its JSON. */
function messageOf(payload: JsonObject): string {
  const keys = Object.keys(payload);
  const [text] = ['answer', 'text', 'message'].flatMap((key) => {
    const value = payload[key];
    return keys.length === 1 && typeof value === 'string' ? [value] : [];
  });
  return text ?? JSON.stringify(payload);
}
