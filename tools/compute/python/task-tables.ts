import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { DataToolContext } from '../../data-tool.ts';
import { listTaskFiles } from '../../files/find-file.ts';
import { loadTaskFile } from '../../files/load-file.ts';
import { readConfined } from '../../files/read-confined.ts';
import { findReader } from '../../files/reading/readers.ts';

/** A question comes with one or two; each takes a process half a second. */
const MAX_SPREADSHEETS = 8;
/** Of all of them, in JSON: they travel to the interpreter in one line. */
const MAX_CHARACTERS = 16_000_000;

const sheetsSchema = z.array(
  z.object({ name: z.string(), columns: z.array(z.string()), rows: z.array(z.array(z.json())) }),
);

/**
 * What the module `tables` has in the sandbox: the spreadsheets of the task, read out here by a process with no rights. Only where the
 * code asks for the module. One that cannot be read is not among them.
 */
export async function collectTables(code: string, context: DataToolContext): Promise<JsonObject> {
  if (!/\btables\b/.test(code)) return {};
  const { names } = await listTaskFiles(context.files);
  const tables: Record<string, z.infer<typeof sheetsSchema>> = {};
  let room = MAX_CHARACTERS;
  const spreadsheets = names.filter((name) => findReader(name) === 'read_excel').slice(0, MAX_SPREADSHEETS);
  for (const name of spreadsheets) {
    try {
      const text = await readConfined(await loadTaskFile(context, name), { kind: 'cells' }, context.signal);
      room -= text.length;
      if (room < 0) break;
      tables[name.replace(/^.*\//, '')] = sheetsSchema.parse(JSON.parse(text));
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
    }
  }
  return { tables };
}
