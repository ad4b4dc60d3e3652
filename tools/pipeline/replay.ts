import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError, messageOf } from '../../core/contracts/errors.ts';
import { folderNameOf } from '../../core/contracts/node-id.ts';
import type { Tool } from '../../core/contracts/tool.ts';
import { parseRecording, RECORDING_FILE, type RecordedPacket } from '../../core/recording/recording.ts';

/**
 * Sends the packets of a recording again, each when the packet arrives that caused it, and after the time that its tool took then
 * (the recording in the workspace holds that time, scaled as the replay was asked to).
 */
function replayTool(): Tool {
  let replies: ReadonlyMap<string, readonly RecordedPacket[]> = new Map();
  return {
    name: 'replay',
    description: 'sends the packets of a recording again, each when its cause arrives',
    accepts: [],
    emits: [],
    async prepare({ workspace }) {
      const file = path.join(workspace, RECORDING_FILE);
      const own = parseRecording(readText(file), file).packets.filter(
        ({ packet }) => folderNameOf(packet.from) === path.basename(workspace),
      );
      replies = Map.groupBy(own, ({ cause }) => cause ?? '');
    },
    async run({ id }, { signal }) {
      const due = replies.get(id) ?? [];
      const toolUs = due.reduce((sum, reply) => sum + (reply.toolUs ?? 0), 0);
      if (toolUs > 0) await sleep(toolUs / 1000, undefined, { signal });
      return due.map(({ packet }) => ({ type: packet.type, payload: packet.payload, recorded: packet }));
    },
  };
}

export const replay: Tool = replayTool();

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new MeshError('config', `no recording to replay: ${messageOf(error)}`, { cause: error });
  }
}
