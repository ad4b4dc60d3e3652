import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { toStorable } from '@gaia-mesh/tools/roles/memory/storable.ts';
import * as z from 'zod';
import type { Row, SqlDatabase, Statement } from './sql-database.ts';

/** Functions shared by the three tables of the store. */
export class SqlTables {
  readonly database: SqlDatabase;
  readonly #now: () => Date;

  constructor(database: SqlDatabase, now: () => Date) {
    this.database = database;
    this.#now = now;
  }

  get location(): string {
    return this.database.location;
  }

  /** Returns the current time in ISO 8601, UTC. */
  time(): string {
    return this.#now().toISOString();
  }

  async rows<T>(schema: z.ZodType<T>, table: string, statement: Statement): Promise<T[]> {
    return this.parse(schema, await this.database.read(statement), table);
  }

  /** Parses rows, since other programs can write to the tables, too. */
  parse<T>(schema: z.ZodType<T>, rows: readonly Row[], table: string): T[] {
    const parsed = z.array(schema).safeParse(rows);
    if (parsed.success) return parsed.data;
    throw new MeshError(
      'store',
      `${this.location}: a row of ${table} is not as Gaia Mesh writes it: ${formatIssues(parsed.error)}`,
    );
  }
}

export function parseRow<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success)
    throw new MeshError('store', `${what} cannot be stored: ${formatIssues(parsed.error)}`);
  return parsed.data;
}

export function checkLimit(limit: number, max: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= max) return limit;
  throw new MeshError('store', `expected a limit from 1 to ${max}, got ${limit}`);
}

/** Builds the condition that columns have these values. The names are the program's own, never a user's. */
export function buildConditions(columns: Readonly<Record<string, string | undefined>>): Statement {
  const given = Object.entries(columns).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    text: ['1 = 1', ...given.map(([name], index) => `${name} = $${index + 1}`)].join(' AND '),
    values: given.map(([, value]) => toStorable(value)),
  };
}

/**
 * Parsers of cells. JSON columns come as text from one database and parsed from the other, times as text or dates, booleans as 0
 * and 1.
 */
export const jsonCell = z.unknown().transform((cell, context): unknown => {
  if (typeof cell !== 'string') return cell;
  try {
    return JSON.parse(cell);
  } catch {
    context.addIssue({ code: 'custom', message: 'is not JSON' });
    return z.NEVER;
  }
});
export const timeCell = z
  .union([z.date(), z.iso.datetime({ offset: true })])
  .transform((time) => new Date(time).toISOString());
export const wholeNumberCell = z.coerce.number().pipe(z.int());
