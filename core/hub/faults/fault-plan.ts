import { createHash } from 'node:crypto';
import { Random } from '../../system/random.ts';
import type { Fault, Route } from './fault.ts';

/** Faults of one delivery. */
export interface Decision {
  readonly drop: boolean;
  readonly dup: boolean;
  /**
   * Position of the flipped bit as a fraction of the blob's length, from 0 to below 1; null for no
   * corruption.
   */
  readonly corruptAt: number | null;
  readonly delayMs: number;
}

/**
 * Plans the faults of one route. Packet `number` (from 1) always has the same fate, because nothing but seed,
 * sender, destination and number decides. Among several faults of a kind, the first that names the route
 * applies, otherwise the one without a route.
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
    // All numbers are drawn regardless of the requested faults, so that adding a kind changes nothing about
    // the others.
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

function findRouteFault<F extends { readonly route?: Route | undefined }>(
  faults: readonly F[],
  { from, to }: Route,
): F | undefined {
  const named = faults.find(({ route }) => route?.from === from && route.to === to);
  return named ?? faults.find(({ route }) => route === undefined);
}

/** Returns 48 bits, so that adding a packet's number stays exact. */
function hashRouteStart(seed: number, { from, to }: Route): number {
  const text = JSON.stringify([seed, from, to]);
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}
