import type { JsonObject, JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';
import type { Part, Said, Task } from './part.ts';

const ROWS = [12, 40, 90, 160] as const;
const CITIES = [
  'Dunnavoe',
  'Astel Harbour',
  'Hathe',
  'Perrine',
  'Vihterand',
  'Tissavoz',
  'Ålesund',
  'Köln',
] as const;
const UNITS = ['kWh', 'm³', 'kg', 'pcs'] as const;

/** Traffic of rows of numbers and texts, as objects, as lists and as columns: 1 to 20 kB per packet. */
export const tables: Part = {
  name: 'tables',
  about: 'rows of numbers and texts, as objects, as lists, as columns and grouped: 1 to 20 kB a packet',
  tasks: (random) => ROWS.map((rows) => drawTask(random, rows)),
};

interface Row {
  readonly date: string;
  readonly city: string;
  readonly item: number;
  readonly amount: number;
  readonly unit: string;
  readonly price: number;
  readonly checked: boolean;
}

function drawTask(random: Random, count: number): Task {
  const rows = Array.from({ length: count }, (_, at) => drawRow(random, at));
  const said: Said[] = [];
  const say = (packet: Said) => said.push(packet) - 1;
  const asked = say({
    type: 'rows.query',
    from: 'coordinator',
    to: 'worker-1',
    cause: -1,
    payload: {
      table: 'deliveries',
      where: { from: rows[0]?.date ?? '', max: count },
      order: ['date', '-amount'],
    },
  });
  const found = say({
    type: 'rows',
    from: 'worker-1',
    to: 'coordinator',
    cause: asked,
    isReply: true,
    payload: { rows: rows.map((row): JsonObject => ({ ...row })), count },
  });
  const listed = say({
    type: 'rows.lists',
    from: 'coordinator',
    to: 'worker-2',
    cause: found,
    payload: { header: Object.keys(rows[0] ?? {}), body: rows.map((row): JsonValue => Object.values(row)) },
  });
  const turned = say({
    type: 'rows.columns',
    from: 'worker-2',
    to: 'reviewer',
    cause: listed,
    payload: { columns: toColumns(rows), nulls: 0 },
  });
  const measured = say({
    type: 'rows.samples',
    from: 'reviewer',
    to: 'worker-2',
    cause: turned,
    isReply: true,
    payload: { samples: rows.map(() => random.uniform() * 2 - 1), rate_hz: 250 },
  });
  const grouped = say({
    type: 'rows.groups',
    from: 'worker-2',
    to: 'coordinator',
    cause: measured,
    payload: { groups: groupCities(rows), of: count },
  });
  say({
    type: 'rows.stored',
    from: 'coordinator',
    cause: grouped,
    payload: { table: 'deliveries', stored: count, version: random.integer(1000) },
  });
  return { opening: { table: 'deliveries', wanted: 'a summary by city' }, said };
}

function drawRow(random: Random, at: number): Row {
  const day = `2026-01-${String(1 + (at % 28)).padStart(2, '0')}`;
  return {
    date: day,
    city: CITIES[random.integer(CITIES.length)] ?? '',
    item: 10_000 + random.integer(90_000),
    amount: random.integer(100_000) / 100,
    unit: UNITS[random.integer(UNITS.length)] ?? '',
    price: random.integer(10_000_000) / 100,
    checked: random.uniform() < 0.8,
  };
}

function toColumns(rows: readonly Row[]): JsonObject {
  return {
    date: rows.map(({ date }) => date),
    city: rows.map(({ city }) => city),
    amount: rows.map(({ amount }) => amount),
    price: rows.map(({ price }) => price),
  };
}

function groupCities(rows: readonly Row[]): JsonValue {
  return [...Map.groupBy(rows, ({ city }) => city)].map(([city, own]) => ({
    city,
    rows: own.length,
    total: own.reduce((sum, { price }) => sum + price, 0),
    largest: own.reduce<JsonValue>((most, { amount }) => Math.max(Number(most), amount), 0),
  }));
}
