import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { toFolderName } from '@gaia-mesh/core/contracts/packet.ts';
import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import { parseRecording, RECORDING_FILE, type RecordedPacket } from '@gaia-mesh/core/recording/recording.ts';

/** Creates the tool that sends the packets of a recording again, each when its cause arrives, without the time that its tool took. */
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
        ({ packet }) => toFolderName(packet.from) === path.basename(workspace),
      );
      replies = Map.groupBy(own, ({ cause }) => cause ?? '');
    },
    async run({ id }) {
      const due = replies.get(id) ?? [];
      return due.map(({ packet }) => ({ type: packet.type, payload: packet.payload, recorded: packet }));
    },
  };
}

export const replay: Tool = replayTool();

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new MeshError('config', `no recording to replay: ${toErrorMessage(error)}`, { cause: error });
  }
}
