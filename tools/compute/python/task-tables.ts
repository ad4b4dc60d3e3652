import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { DataToolContext } from '../../data-tool.ts';
import { listTaskFiles } from '../../files/find-file.ts';
import { loadTaskFile } from '../../files/load-file.ts';
import { readConfined } from '../../files/read-confined.ts';
import { findReader } from '../../files/reading/readers.ts';

/** Maximum spreadsheets read. A question comes with one or two; each takes a process half a second. */
const MAX_SPREADSHEETS = 8;
/** Maximum size of all of them in JSON: they are sent to the interpreter in one line. */
const MAX_CHARACTERS = 16_000_000;

const sheetsSchema = z.array(
  z.object({ name: z.string(), columns: z.array(z.string()), rows: z.array(z.array(z.json())) }),
);

/**
 * Returns the sheets for the module `tables` in the sandbox: the task's spreadsheets, read by a process without rights.
 * Returns nothing when the code does not mention the module, and leaves out spreadsheets that cannot be read.
 */
export async function collectTables(code: string, context: DataToolContext): Promise<JsonObject> {
  if (!/\btables\b/.test(code)) return {};
  const { names } = await listTaskFiles(context.files);
  const tables: Record<string, z.infer<typeof sheetsSchema>> = {};
  let room = MAX_CHARACTERS;
  const spreadsheets = names.filter((name) => findReader(name) === 'read_excel').slice(0, MAX_SPREADSHEETS);
  for (const name of spreadsheets) {
    try {
      const { text } = await readConfined(
        await loadTaskFile(context, name),
        { kind: 'cells' },
        context.signal,
      );
      room -= text.length;
      if (room < 0) break;
      tables[name.replace(/^.*\//, '')] = sheetsSchema.parse(JSON.parse(text));
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
    }
  }
  return { tables };
}
