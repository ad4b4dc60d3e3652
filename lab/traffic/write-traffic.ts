import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Command } from 'commander';
import { recordingLines } from '../../core/recording/recording.ts';
import { codeFolder } from '../../core/system/package-root.ts';
import { defaultRecording } from '../../evaluation/compare/scenario.ts';
import { print } from '../../evaluation/terminal/print.ts';
import { count } from '../../evaluation/terminal/table.ts';
import { trafficSet } from './traffic-set.ts';

export function writeTraffic(command: Command): void {
  command.action(() => {
    const recording = trafficSet();
    const text = recordingLines(recording).join('');
    const bytes = gzipSync(text, { level: 9 });
    writeFileSync(defaultRecording, bytes);
    const name = path.relative(codeFolder, defaultRecording);
    print(
      `${name}: ${recording.packets.length} packets, ${count(text.length)} characters, ${count(bytes.length)} B gzipped`,
    );
  });
}
