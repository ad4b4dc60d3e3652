import { MAX_FAULTS } from '../../contracts/limits.ts';
import { type Fault, isTimed } from './fault.ts';
import { EXAMPLES, FaultReader, halves, type NamedAgent, quoted, wrong } from './fault-reader.ts';

/**
 * Reads faults as a user writes them:
 *
 *     faults    = fault *( "," fault )
 *     fault     = ( "drop" | "dup" | "corrupt" ) "=" number "%" [ ":" route ]
 *               | "delay=" time [ ( "±" | "+-" ) number [ unit ] ] [ ":" route ]
 *               | "kill=" agent "@" time
 *               | "stall=" agent "@" time "+" time
 *               | "lie=" agent "@" type
 *               | "partition=" group 1*( "|" group ) "@" time "+" time
 *     route       = ( agent | "hub" ) ">" agent
 *     group     = agent *( "-" agent )
 *     time      = number unit
 *     unit      = "ms" | "s"
 *
 * @throws MeshError `usage`, with the part that was not understood and an example
 */
export function parseFaults(text: string, agents: readonly NamedAgent[]): Fault[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.length > MAX_FAULTS) throw wrong(`${items.length} faults; at most ${MAX_FAULTS}`);
  const faults = items.map((item) => parseFault(item, agents));
  const seen = new Set<string>();
  for (const fault of faults) {
    if (isTimed(fault)) continue;
    const which = fault.kind === 'lie' ? [fault.agent, fault.type] : fault.route;
    const key = JSON.stringify([fault.kind, which]);
    if (seen.has(key))
      throw wrong(`${quoted(fault.text)}: there are two ${fault.kind} for the same deliveries`);
    seen.add(key);
  }
  return faults;
}

function parseFault(item: string, agents: readonly NamedAgent[]): Fault {
  const [name, value = ''] = halves(item, item.indexOf('='));
  const kinds = Object.keys(EXAMPLES);
  if (!isKind(name)) {
    throw wrong(
      `${quoted(item)}: ${quoted(name)} is no fault; there are ${kinds.join(', ')}, e.g. ${EXAMPLES.drop}`,
    );
  }
  const reader = new FaultReader(item, name, agents);
  switch (name) {
    case 'drop':
    case 'dup':
    case 'corrupt': {
      const [rate, route] = halves(value, value.indexOf(':'));
      return { kind: name, rate: reader.rate(rate), ...reader.route(route), text: item };
    }
    case 'delay': {
      const [delay, route] = halves(value, value.indexOf(':'));
      return { kind: name, ...reader.delay(delay), ...reader.route(route), text: item };
    }
    case 'kill': {
      const [agent, at] = halves(value, value.lastIndexOf('@'));
      return { kind: name, agent: reader.agent(agent), atMs: reader.time(at), text: item };
    }
    case 'lie': {
      const [agent, type] = halves(value, value.indexOf('@'));
      return { kind: name, agent: reader.agent(agent), type: reader.type(type), text: item };
    }
    case 'stall': {
      const [agent, times] = halves(value, value.lastIndexOf('@'));
      return { kind: name, agent: reader.agent(agent), ...reader.span(times), text: item };
    }
    case 'partition': {
      const [groups, times] = halves(value, value.lastIndexOf('@'));
      return { kind: name, groups: reader.groups(groups), ...reader.span(times), text: item };
    }
  }
}

function isKind(name: string): name is Fault['kind'] {
  return Object.hasOwn(EXAMPLES, name);
}
