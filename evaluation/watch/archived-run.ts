import { existsSync } from 'node:fs';
import { MAX_LOG_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { toFolderName } from '@gaia-mesh/core/contracts/node-id.ts';
import { HUB_ID } from '@gaia-mesh/core/contracts/packet.ts';
import { TRACE_FILE } from '@gaia-mesh/core/contracts/tool.ts';
import { readArchivedTexts } from '@gaia-mesh/core/recording/read-archive.ts';
import { RECORDING_FILE } from '@gaia-mesh/core/recording/recording.ts';
import { type RunEvent, readRunEvents } from '@gaia-mesh/core/run/run-event.ts';
import type { FileEnd } from '@gaia-mesh/core/system/files/untrusted-file.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';
import { AGENT_LOG, cutDetail, type Details, findReasoning, findSentLine, HUB_LOG } from './details.ts';
import { EventFeed } from './event-feed.ts';
import { buildRunReport } from './finished-report.ts';
import type { WatchedRun } from './watched-run.ts';

/** Maximum unpacked bytes that are read of an archive at once: a full log and its last line. */
const MAX_BYTES = MAX_LOG_BYTES + 64 * 1024;
/** Maximum characters of an opened log. */
const LOG_CHARACTERS = 64 * 1024;

/**
 * Opens a finished run from its archive. The hub's log gives the same events that a live run sends.
 *
 * @throws MeshError `config` if there is no archive, or it is not that of a run
 */
export async function openArchivedRun(archive: string): Promise<WatchedRun> {
  const texts = await readArchivedTexts(archive, (name) => name === HUB_LOG, MAX_BYTES);
  const feed = new EventFeed(() => 0);
  let status = 'unknown';
  const watch = function* (events: Iterable<RunEvent>) {
    for (const event of events) {
      if (event.event === 'run_ended') ({ status } = event);
      yield event;
    }
  };
  feed.replay(watch(readRunEvents(texts?.get(HUB_LOG) ?? '')));
  feed.end(status);
  return { feed, details: new ArchivedDetails(archive), report: () => buildRunReport(archive) };
}

const recordedSchema = z.looseObject({ packet: z.looseObject({ id: z.string(), from: z.string() }) });

/** Details of a run from its archive. A requested name is only compared with the names in the archive, never used as a path. */
class ArchivedDetails implements Details {
  readonly #archive: string;

  constructor(archive: string) {
    this.#archive = archive;
  }

  async log(_run: string, agent: string): Promise<FileEnd | undefined> {
    const name = agent === HUB_ID ? HUB_LOG : `${toFolderName(agent)}/${AGENT_LOG}`;
    const text = (await this.#texts((file) => file === name)).get(name);
    if (text === undefined) return undefined;
    const isCut = text.length > LOG_CHARACTERS;
    const tail = isCut ? text.slice(text.indexOf('\n', text.length - LOG_CHARACTERS) + 1) : text;
    return { text: tail, isCut };
  }

  async reasoning(_run: string, question: string): Promise<string | undefined> {
    const notes = await this.#texts((file) => file.endsWith(`/${TRACE_FILE}`));
    return findReasoning(
      [...notes.values()].flatMap((text) => text.split('\n')),
      question,
    );
  }

  async packet(_run: string, from: string, id: string): Promise<string | undefined> {
    const recording = (await this.#texts((file) => file === RECORDING_FILE)).get(RECORDING_FILE) ?? '';
    for (const line of findLines(recording, id)) {
      const value = recordedSchema.safeParse(tryParseJson(line));
      if (value.success && value.data.packet.id === id) return cutDetail(JSON.stringify(value.data, null, 2));
    }
    const name = `${toFolderName(from)}/${AGENT_LOG}`;
    const log = (await this.#texts((file) => file === name)).get(name) ?? '';
    return findSentLine(findLines(log, id), id);
  }

  async #texts(wanted: (name: string) => boolean): Promise<ReadonlyMap<string, string>> {
    if (!existsSync(this.#archive)) return new Map();
    return (await readArchivedTexts(this.#archive, wanted, MAX_BYTES)) ?? new Map();
  }
}

/** Finds the lines that contain a text, without splitting the others. */
function* findLines(text: string, part: string): Generator<string> {
  for (let at = text.indexOf(part); at >= 0; ) {
    const start = text.lastIndexOf('\n', at) + 1;
    const end = text.indexOf('\n', at);
    yield text.slice(start, end < 0 ? undefined : end);
    if (end < 0) return;
    at = text.indexOf(part, end);
  }
}
