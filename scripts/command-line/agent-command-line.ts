import type { AgentEndpoint } from '@gaia-mesh/core/agent/spec.ts';
import { DEFAULT_SUBJECT } from '@gaia-mesh/core/transports/nats/subjects.ts';
import { quoteShellWord } from '@gaia-mesh/evaluation/terminal/shell-word.ts';

/** What a person types to start an agent. */
export function formatAgentCommand(agent: { id: string; tool: string; place: AgentEndpoint }): string {
  return `gaia-mesh agent --id ${quoteShellWord(agent.id)} --tool ${agent.tool} ${formatEndpointOptions(agent.place)}`;
}

function formatEndpointOptions(endpoint: AgentEndpoint): string {
  if ('port' in endpoint) return `--port ${endpoint.port}`;
  const url = endpoint.natsUrl === undefined ? '' : ` --nats-url ${endpoint.natsUrl}`;
  const subject = endpoint.subject === DEFAULT_SUBJECT ? '' : ` --nats-subject ${endpoint.subject}`;
  return `--transport nats${url}${subject}`;
}
