import type { JsonObject } from '../../../core/contracts/packet.ts';
import { countOf, listOf, objectOf, textOf, timeOf } from '../loose-values.ts';
import type { ImportedMessage, Importer, ImportNotes } from '../message.ts';

const MAX_SUBAGENT_DEPTH = 8;

/**
 * Trajectories in ATIF, Harbor's Agent Trajectory Interchange Format, versions 1.0 to 1.7: what user and system say to the agent, the
 * tools that it calls, what they observe, and what it says in the end. What the agent sent its model is not in the format.
 */
export const importAtif: Importer = (values, notes) =>
  values.flatMap(({ value, where }) => trajectory(objectOf(value) ?? {}, where, notes, 0));

function trajectory(file: JsonObject, where: string, notes: ImportNotes, depth: number): ImportedMessage[] {
  const agent = textOf(objectOf(file.agent)?.name) ?? 'agent';
  const session = textOf(file.session_id) ?? textOf(file.trajectory_id) ?? where;
  const messages: ImportedMessage[] = [];
  let asker: ImportedMessage | undefined;
  const steps = listOf(file.steps).map((step) => objectOf(step) ?? {});
  for (const step of steps) {
    const atUs = timeOf(step);
    const said = { task: session, atUs };
    if (step.source !== 'agent') {
      const from = step.source === 'system' ? 'system' : 'user';
      asker = { ...said, from, to: agent, type: `${from}.message`, payload: { message: step.message ?? '' } };
      messages.push(asker, ...observed(step, new Map(), { ...said, agent }, notes));
      continue;
    }
    const metrics = objectOf(step.metrics);
    if (metrics !== undefined) {
      notes.drop(
        'what the agent sent its model at a step: the format has only its tokens',
        'what the agent sent its model at # steps: the format has only their tokens',
      );
    }
    const calls = new Map<string, ImportedMessage>();
    for (const value of listOf(step.tool_calls)) {
      const call = objectOf(value) ?? {};
      const name = textOf(call.function_name) ?? 'unknown';
      const message = {
        ...said,
        from: agent,
        to: `tool:${name}`,
        type: 'tool.call',
        payload: call.arguments ?? {},
      };
      calls.set(textOf(call.tool_call_id) ?? `${calls.size}`, message);
      messages.push(message);
    }
    messages.push(...observed(step, calls, { ...said, agent }, notes));
    // With tools the words are a thought; without, they are for whoever asked.
    const { message, reasoning_content } = step;
    const thought = {
      message: message ?? '',
      ...(reasoning_content === undefined ? {} : { reasoning_content }),
    };
    if (calls.size > 0) {
      const bytes = Buffer.byteLength(JSON.stringify(thought));
      notes.drop(
        '1 byte of what the agent thought',
        '# bytes of what the agent thought between its calls: nobody was sent it',
        undefined,
        bytes,
      );
      continue;
    }
    messages.push({
      ...{
        ...said,
        from: agent,
        to: asker?.from ?? 'user',
        type: 'agent.message',
        payload: { message: message ?? '' },
      },
      ...{ answers: asker, tokens: tokensOf(metrics) },
    });
    asker = undefined;
  }
  const subagents = listOf(file.subagent_trajectories).map((value) => objectOf(value) ?? {});
  if (depth >= MAX_SUBAGENT_DEPTH)
    notes.drop('subagents below subagents', 'subagents below subagents (#)', session, subagents.length);
  else for (const inner of subagents) messages.push(...trajectory(inner, where, notes, depth + 1));
  return messages;
}

/** What tools answered; an observation without a call is the environment's. */
function observed(
  step: JsonObject,
  calls: ReadonlyMap<string, ImportedMessage>,
  { agent, ...said }: Pick<ImportedMessage, 'task' | 'atUs'> & { readonly agent: string },
  notes: ImportNotes,
): ImportedMessage[] {
  return listOf(objectOf(step.observation)?.results).map((value) => {
    const result = objectOf(value) ?? {};
    const call = calls.get(textOf(result.source_call_id) ?? '');
    // Some agents leave the id out where there is one call.
    const [only] = calls.size === 1 ? [...calls.values()] : [];
    const answers = call ?? only;
    if (answers === undefined) {
      notes.guess(
        'sender of an observation: the environment, since it names no call',
        'senders of # observations: the environment, since they name no call',
      );
    }
    const { content, subagent_trajectory_ref } = result;
    const payload = {
      content: content ?? null,
      ...(subagent_trajectory_ref === undefined ? {} : { subagent_trajectory_ref }),
    };
    return { ...said, from: answers?.to ?? 'environment', to: agent, type: 'tool.result', payload, answers };
  });
}

function tokensOf(metrics: JsonObject | undefined): number | undefined {
  if (metrics === undefined) return undefined;
  return (countOf(metrics.prompt_tokens) ?? 0) + (countOf(metrics.completion_tokens) ?? 0);
}
