import type { RunObserver } from '@gaia-mesh/core/run/run-options.ts';

/** All methods of an observer; the compiler reports a missing one. */
const CALLS: Readonly<Record<keyof RunObserver, true>> = {
  began: true,
  agentUp: true,
  agentLost: true,
  broadcast: true,
  relayed: true,
  refused: true,
  taskEnded: true,
  faultEvent: true,
  deliveryFault: true,
};

/** Combines observers into one that calls each of them in turn; a method that none of them has is left out. */
export function combineObservers(...observers: readonly RunObserver[]): RunObserver {
  const joined: Partial<Record<keyof RunObserver, (...args: readonly unknown[]) => void>> = {};
  for (const name of Object.keys(CALLS) as (keyof RunObserver)[]) {
    const calls = observers.flatMap((observer) => {
      const call: unknown = observer[name];
      return typeof call === 'function' ? [call.bind(observer)] : [];
    });
    const [first, ...others] = calls;
    if (first === undefined) continue;
    joined[name] =
      others.length === 0
        ? first
        : (...args) => {
            for (const call of calls) call(...args);
          };
  }
  return joined as RunObserver;
}
