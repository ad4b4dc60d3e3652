import type { AgentPlace } from '@gaia-mesh/core/agent/spec.ts';
import { DEFAULT_SUBJECT } from '@gaia-mesh/core/transports/nats/subjects.ts';
import { shellWord } from '@gaia-mesh/evaluation/terminal/shell-word.ts';

/** What a person types to start an agent. */
export function agentCommandLine(agent: { id: string; tool: string; place: AgentPlace }): string {
  return `gaia-mesh agent --id ${shellWord(agent.id)} --tool ${agent.tool} ${placeOptions(agent.place)}`;
}

function placeOptions(place: AgentPlace): string {
  if ('port' in place) return `--port ${place.port}`;
  const url = place.natsUrl === undefined ? '' : ` --nats-url ${place.natsUrl}`;
  const subject = place.subject === DEFAULT_SUBJECT ? '' : ` --nats-subject ${place.subject}`;
  return `--transport nats${url}${subject}`;
}
