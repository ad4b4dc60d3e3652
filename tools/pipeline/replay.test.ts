import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Engine } from '@gaia-mesh/core/contracts/engine.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { formatRecording, RECORDING_FILE } from '@gaia-mesh/core/recording/recording.ts';
import { sampleHeader } from '@gaia-mesh/core/testing/sample-header.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { loadEngine } from '../engines/registry.ts';
import { toolContext } from '../fixtures/tool-surroundings.ts';
import { loadTool } from '../registry.ts';

const document = toPacket('hub', 'hub-1');
const found = toPacket('0', '0-1');
const more = toPacket('0', '0-2');
const answer = toPacket('1', '1-1');

function toPacket(from: string, id: string): Packet {
  return { type: 'said', from, id, task_id: 't', token_used: 3, ts: 7, payload: { text: id } };
}

describe('replay', () => {
  const workspace = path.join(temporaryFolder(), '0');
  let engine: Engine;

  beforeEach(async () => {
    engine = await loadEngine('extractive', { prompts: (name) => name });
    mkdirSync(workspace, { recursive: true });
    const packets = [
      { cause: null, tool_us: 0, packet: document },
      { cause: document.id, tool_us: 5, packet: found },
      { cause: document.id, tool_us: 5, packet: more },
      { cause: found.id, tool_us: 5, packet: answer },
    ];
    writeFileSync(
      path.join(workspace, RECORDING_FILE),
      formatRecording({ header: sampleHeader, packets }).join(''),
    );
  });

  test('sends the packets of its agent again, each when its cause arrives, as they were', async () => {
    const tool = await loadTool('replay');
    await tool.prepare?.({ engine, workspace });

    const emissions = await tool.run(document, toolContext(engine, { workspace }));

    expect(emissions.map(({ recorded }) => recorded)).toEqual([found, more]);
  });

  test('sends nothing for a packet that caused none of its own', async () => {
    const tool = await loadTool('replay');
    await tool.prepare?.({ engine, workspace });

    expect(await tool.run(found, toolContext(engine, { workspace }))).toEqual([]);
  });

  test('fails without a recording, before a packet comes', async () => {
    const tool = await loadTool('replay');
    const prepared = tool.prepare?.({ engine, workspace: path.join(workspace, 'empty') });

    await expect(prepared).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('no recording to replay'),
    });
  });
});
