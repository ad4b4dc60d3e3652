import * as z from 'zod';
import { teamSchema } from '../../core/team.ts';

/** The JSON Schema of the team file, as `config/team.schema.json` holds it for editors. */
export function teamJsonSchema(): string {
  const schema = z.toJSONSchema(teamSchema, { io: 'input', target: 'draft-7', unrepresentable: 'any' });
  return `${JSON.stringify({ ...schema, title: 'Gaia Mesh team' }, null, 2)}\n`;
}

/** Prints it: `npm run schema` writes the file. */
export function schema(): void {
  process.stdout.write(teamJsonSchema());
}
