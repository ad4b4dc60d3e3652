import { MeshError } from '../../contracts/errors.ts';
import { FAULT_LIMITS } from '../../contracts/limits.ts';
import { HUB_ID } from '../../contracts/packet.ts';

/** Deliveries of one direction: from an agent or the hub to an agent. Both are ids. */
export interface Route {
  readonly from: string;
  readonly to: string;
}

/**
 * A fault that is decided for each delivery. A fault without a route applies to all deliveries. `text` is the
 * user's input.
 */
type DeliveryFault =
  | {
      readonly kind: 'drop' | 'dup' | 'corrupt';
      /** Fraction of the deliveries, 0 to 1. */
      readonly rate: number;
      readonly route?: Route | undefined;
      readonly text: string;
    }
  | {
      readonly kind: 'delay';
      /** Delays from `ms - spreadMs` to `ms + spreadMs` are equally likely. */
      readonly ms: number;
      readonly spreadMs: number;
      readonly route?: Route | undefined;
      readonly text: string;
    };

/** The process of an agent is killed at a time, counted from the start of the first task. */
interface KillFault {
  readonly kind: 'kill';
  /** Agent id. */
  readonly agent: string;
  readonly atMs: number;
  readonly text: string;
}

/** An agent states something false in all its packets of a type. The packets themselves arrive intact. */
interface LieFault {
  readonly kind: 'lie';
  /** Agent id. */
  readonly agent: string;
  /** Packet type. */
  readonly type: string;
  readonly text: string;
}

export type Fault = DeliveryFault | KillFault | LieFault;

/** An agent that a fault can name by its id or, if it is the only one with that tool, by its tool. */
interface NamedAgent {
  readonly id: string;
  readonly tool: string;
}

export const EXAMPLES: Readonly<Record<Fault['kind'], string>> = {
  drop: 'drop=1%, or drop=100%:search>extract for one route',
  dup: 'dup=0.5%',
  corrupt: 'corrupt=0.1%',
  delay: 'delay=20ms±10',
  kill: 'kill=extract@3s',
  lie: 'lie=extract@triples',
};

/**
 * Parses faults as a user writes them:
 *
 *     faults    = fault *( "," fault )
 *     fault     = ( "drop" | "dup" | "corrupt" ) "=" number "%" [ ":" route ]
 *               | "delay=" time [ ( "±" | "+-" ) number [ unit ] ] [ ":" route ]
 *               | "kill=" agent "@" time
 *               | "lie=" agent "@" type
 *     route     = ( agent | "hub" ) ">" agent
 *     time      = number unit
 *     unit      = "ms" | "s"
 *
 * @throws MeshError `usage`, with the part that was not understood and an example
 */
export function parseFaults(text: string, agents: readonly NamedAgent[]): Fault[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.length > FAULT_LIMITS.faults)
    throw createFaultError(`${items.length} faults; at most ${FAULT_LIMITS.faults}`);
  const faults = items.map((item) => parseFault(item, agents));
  const seen = new Set<string>();
  for (const fault of faults) {
    if (fault.kind === 'kill') continue;
    const which = fault.kind === 'lie' ? [fault.agent, fault.type] : fault.route;
    const key = JSON.stringify([fault.kind, which]);
    if (seen.has(key))
      throw createFaultError(`${quoteText(fault.text)}: there are two ${fault.kind} for the same deliveries`);
    seen.add(key);
  }
  return faults;
}

function parseFault(item: string, agents: readonly NamedAgent[]): Fault {
  const [name, value = ''] = splitHalves(item, item.indexOf('='));
  const kinds = Object.keys(EXAMPLES);
  if (!isKind(name)) {
    throw createFaultError(
      `${quoteText(item)}: ${quoteText(name)} is no fault; there are ${kinds.join(', ')}, e.g. ${EXAMPLES.drop}`,
    );
  }
  const reader = new FaultReader(item, name, agents);
  switch (name) {
    case 'drop':
    case 'dup':
    case 'corrupt': {
      const [rate, route] = splitHalves(value, value.indexOf(':'));
      return { kind: name, rate: reader.rate(rate), route: reader.route(route), text: item };
    }
    case 'delay': {
      const [delay, route] = splitHalves(value, value.indexOf(':'));
      return { kind: name, ...reader.delay(delay), route: reader.route(route), text: item };
    }
    case 'kill': {
      const [agent, at] = splitHalves(value, value.lastIndexOf('@'));
      return { kind: name, agent: reader.agent(agent), atMs: reader.time(at), text: item };
    }
    case 'lie': {
      const [agent, type] = splitHalves(value, value.indexOf('@'));
      return { kind: name, agent: reader.agent(agent), type: reader.type(type), text: item };
    }
  }
}

function isKind(name: string): name is Fault['kind'] {
  return Object.hasOwn(EXAMPLES, name);
}

/** Parses the parts of one fault; errors name the part that cannot be read. */
class FaultReader {
  readonly #item: string;
  readonly #kind: Fault['kind'];
  readonly #agents: readonly NamedAgent[];

  constructor(item: string, kind: Fault['kind'], agents: readonly NamedAgent[]) {
    this.#item = item;
    this.#kind = kind;
    this.#agents = agents;
  }

  rate(text: string): number {
    const percent = Number(/^(\d+(?:\.\d+)?)%$/.exec(text)?.[1] ?? Number.NaN);
    if (!(percent <= 100)) this.#fail(text, 'expected 0% to 100%');
    return percent / 100;
  }

  time(text: string | undefined): number {
    const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(text ?? '') ?? [];
    if (number === undefined) this.#fail(text, 'expected a time with its unit, such as 500ms or 3s');
    const ms = Number(number) * (unit === 's' ? 1000 : 1);
    if (ms > FAULT_LIMITS.timeMs) this.#fail(text, `expected at most ${FAULT_LIMITS.timeMs / 1000}s`);
    return ms;
  }

  delay(text: string): { ms: number; spreadMs: number } {
    const [mean = '', spread] = text.split(/±|\+-/, 2);
    const ms = this.time(mean);
    if (ms === 0 || ms > FAULT_LIMITS.delayMs) {
      this.#fail(mean, `expected more than 0 and at most ${FAULT_LIMITS.delayMs / 1000}s`);
    }
    // The spread of `20ms±10` has the unit of the mean.
    const unit = mean.endsWith('ms') ? 'ms' : 's';
    const spreadMs = spread === undefined ? 0 : this.time(/\d$/.test(spread) ? spread + unit : spread);
    if (spreadMs > ms) this.#fail(spread, 'a delivery cannot come before it was sent');
    return { ms, spreadMs };
  }

  type(text: string | undefined): string {
    if (!/^[\w.-]+$/.test(text ?? '')) this.#fail(text, 'expected the type of a packet');
    return text ?? '';
  }

  route(text: string | undefined): Route | undefined {
    if (text === undefined) return undefined;
    const [from, to] = splitHalves(text, text.indexOf('>'));
    if (to === undefined) this.#fail(text, 'expected FROM>TO');
    return { from: from === HUB_ID ? HUB_ID : this.agent(from), to: this.agent(to) };
  }

  agent(name: string): string {
    if (this.#agents.some(({ id }) => id === name)) return name;
    const [only, ...others] = this.#agents.filter(({ tool }) => tool === name).map(({ id }) => id);
    if (only === undefined) {
      const names = this.#agents.map(({ id, tool }) => `${id} (${tool})`).join(', ');
      this.#fail(name, `no agent has this id or tool; there are ${names}`);
    }
    if (others.length > 0)
      this.#fail(name, `agents ${[only, ...others].join(', ')} have this tool; name one by its id`);
    return only;
  }

  #fail(part: string | undefined, expected: string): never {
    throw createFaultError(
      `${quoteText(this.#item)}: ${quoteText(part ?? '')}: ${expected}; e.g. ${EXAMPLES[this.#kind]}`,
    );
  }
}

/** Splits a text before and after the character at `index`; a negative index leaves it whole. */
function splitHalves(text: string, index: number): [string, string?] {
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

function quoteText(text: string): string {
  return JSON.stringify(text);
}

function createFaultError(message: string): MeshError {
  return new MeshError('usage', `faults: ${message}`, { setting: 'faults' });
}
