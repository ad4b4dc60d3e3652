import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatReplies, readRecordedReplies } from '@gaia-mesh/core/recording/recorded-replies.ts';
import { writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { guard } from '@gaia-mesh/core/system/process/guard.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import type { TeamOptions } from './options.ts';

/**
 * With `--replies`, selects the engine `recorded` and writes the file that its agents read, which exists until this process ends.
 * The file is named after its content, so that a resumed batch has the same fingerprint.
 *
 * @throws MeshError `usage` if another engine was chosen, `config` for an archive without replies
 */
export async function withReplies(
  options: TeamOptions,
): Promise<TeamOptions & { readonly repliesFile?: string }> {
  if (options.replies === undefined) {
    if (options.engine !== 'recorded') return options;
    throw new MeshError(
      'usage',
      '--engine recorded: give the run to take replies from with --replies run_artifacts.tar.gz',
    );
  }
  if (options.engine !== undefined && options.engine !== 'recorded')
    throw new MeshError(
      'usage',
      `--replies and --engine ${options.engine} exclude each other: recorded replies are an engine of their own`,
    );
  const all = await Promise.all(
    options.replies.map((archive) => readRecordedReplies(resolveUserPath(archive))),
  );
  const text = formatReplies(all.flat());
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const folder = path.join(os.tmpdir(), `gaia-mesh-replies-${digest}-${process.pid}`);
  const file = path.join(folder, 'replies.jsonl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const release = guard({ folder });
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
    release();
  });
  writeWhole(file, text);
  return { ...options, engine: 'recorded', repliesFile: file };
}
