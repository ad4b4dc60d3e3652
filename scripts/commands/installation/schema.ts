import { teamSchema } from '@gaia-mesh/core/contracts/team.ts';
import { formatJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import type { Command } from 'commander';
import * as z from 'zod';

/** Builds the JSON Schema of the team file; `config/team.schema.json` has it for editors. */
export function buildTeamSchema(): string {
  const schema = z.toJSONSchema(teamSchema, { io: 'input', target: 'draft-7', unrepresentable: 'any' });
  return formatJson({ ...schema, title: 'Gaia Mesh team' });
}

export function defineSchema(command: Command): void {
  command.action(run);
}

/** Prints the schema: `npm run schema` writes the file. */
function run(): void {
  printText(buildTeamSchema());
}
