import { type ChooseCopy, chooseCopy } from '../../hub/tasks/copies.ts';
import { sharedId } from '../../wire/copy-id.ts';
import type { Recording } from '../recording.ts';

/**
 * The copies that had the tasks of a recording: some may have been gone by then, whom a replay has again. Of a task that two had, one
 * after the other, the first: its packets cannot all be replayed, which the replay says.
 */
export function recordedCopies({ packets }: Pick<Recording, 'packets'>): ChooseCopy {
  const had = new Map<string, string>();
  for (const { packet } of packets) {
    const key = keyOf(packet.task_id, sharedId(packet.from));
    if (!had.has(key)) had.set(key, packet.from);
  }
  return (taskId, ids) => had.get(keyOf(taskId, sharedId(ids[0] ?? ''))) ?? chooseCopy(taskId, ids);
}

/** Who heard a task of a recording: of each agent one copy. */
export function recordedHearers(recording: Recording): (taskId: string) => readonly string[] {
  const choose = recordedCopies(recording);
  const ids = recording.header.agents.map(({ id }) => id);
  const agents = [...Map.groupBy(ids, sharedId).values()];
  const known = new Map<string, readonly string[]>();
  return (taskId) => {
    let hearers = known.get(taskId);
    if (hearers === undefined) {
      hearers = agents.map((copies) => (copies.length === 1 ? (copies[0] ?? '') : choose(taskId, copies)));
      known.set(taskId, hearers);
    }
    return hearers;
  };
}

/** No node id has a space. */
function keyOf(taskId: string, agent: string): string {
  return `${agent} ${taskId}`;
}
