import { createHash } from 'node:crypto';
import { Random } from '../../system/random.ts';
import type { Fault, Route } from './fault.ts';

/** What happens to one delivery. */
export interface Decision {
  readonly drop: boolean;
  readonly dup: boolean;
  /** Where a bit is turned over, as a part of the blob's length from 0 to below 1; null for none. */
  readonly corruptAt: number | null;
  readonly delayMs: number;
}

/**
 * Decides for the deliveries of one route: packet `number` (from 1) of it always has the same fate, whatever came when, since
 * nothing but seed, sender, destination and number decides. Of several faults of a kind the first that names the route counts,
 * else the one that names none.
 */
export function planRouteFaults(
  seed: number,
  faults: readonly Fault[],
  route: Route,
): (packetNumber: number) => Decision {
  const dropRate = readFaultRate('drop', faults, route);
  const dupRate = readFaultRate('dup', faults, route);
  const corruptRate = readFaultRate('corrupt', faults, route);
  const delay = findRouteFault(
    faults.filter((fault) => fault.kind === 'delay'),
    route,
  );
  const start = hashRouteStart(seed, route);
  return (packetNumber) => {
    const random = new Random(start + packetNumber);
    // All are drawn, whatever is asked for: a further kind changes nothing about the others.
    const drop = random.uniform();
    const dup = random.uniform();
    const corrupt = random.uniform();
    const place = random.uniform();
    const spread = random.uniform();
    return {
      drop: drop < dropRate,
      dup: dup < dupRate,
      corruptAt: corrupt < corruptRate ? place : null,
      delayMs: delay === undefined ? 0 : delay.ms + (2 * spread - 1) * delay.spreadMs,
    };
  };
}

function readFaultRate(kind: 'drop' | 'dup' | 'corrupt', faults: readonly Fault[], route: Route): number {
  const rates = faults.filter((fault) => 'rate' in fault).filter((fault) => fault.kind === kind);
  return findRouteFault(rates, route)?.rate ?? 0;
}

function findRouteFault<F extends { readonly route?: Route }>(
  faults: readonly F[],
  { from, to }: Route,
): F | undefined {
  const named = faults.find(({ route }) => route?.from === from && route.to === to);
  return named ?? faults.find(({ route }) => route === undefined);
}

/** 48 bits, so that a packet's number can be added and the sum is still exact. */
function hashRouteStart(seed: number, { from, to }: Route): number {
  const text = JSON.stringify([seed, from, to]);
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}
