import { useState } from 'preact/hooks';
import type { RunData } from '../../report/page-data.ts';
import { nameAgent, toLine } from '../format.ts';
import { Badge, Card, Loaded } from '../parts.tsx';
import { type Column, ResultTable } from '../result-table.tsx';

type Agent = RunData['metrics']['agents'][number];

/** An agent with its figures as `metrics.json` has them; null stands for a value that is not known, or not yet. */
export interface AgentRow extends Pick<Agent, 'id' | 'tool' | 'packets_rx' | 'bytes_rx' | 'tokens'> {
  readonly status: string;
  readonly fault?: string | null | undefined;
  readonly bytes_tx?: number;
  readonly tool_us?: number | null;
  readonly refused?: number;
}

interface AgentsCardProps {
  readonly rows: readonly AgentRow[];
  /** Loads the end of an agent's log. */
  readonly load: (agent: string) => Promise<string | null>;
}

/** The agents with their own logs. */
export function AgentsCard({ rows, load }: AgentsCardProps) {
  const [opened, setOpened] = useState<string | null>(null);
  if (rows.length === 0) return null;
  const columns: Column<AgentRow>[] = [
    { header: 'agent', value: nameAgent },
    {
      header: 'state',
      value: ({ status, fault }) => (fault == null ? status : `${status}: ${toLine(fault, 120)}`),
      cell: ({ status, fault }) => (
        <>
          <Badge tone={status === 'up' ? 'good' : status === 'starting' ? 'plain' : 'bad'}>{status}</Badge>
          {fault == null ? null : ` ${toLine(fault, 120)}`}
        </>
      ),
    },
    {
      header: 'packets sent',
      value: ({ packets_rx }) => packets_rx,
      explain: 'packets that the hub received from it',
    },
    { header: 'bytes sent', value: ({ bytes_rx }) => bytes_rx, explain: 'frames of these packets' },
    {
      header: 'bytes received',
      value: ({ bytes_tx }) => bytes_tx,
      explain: 'frames of packets that the hub wrote to it',
      rank: 1,
    },
    {
      header: 'tokens',
      value: ({ tokens }) => tokens,
      explain: 'tokens that it reported with its packets',
    },
    {
      header: 'ms in its tool',
      value: ({ tool_us }) => (tool_us == null ? null : tool_us / 1000),
      digits: 1,
      explain: 'by the agent’s own clock, over all packets',
      rank: 1,
    },
    {
      header: 'refused',
      value: ({ refused }) => refused,
      explain: 'its packets that the hub did not accept',
      rank: 1,
    },
  ];
  return (
    <Card title="Agents" nav="Agents" id="agents" about="Open an agent to read the end of its log.">
      <ResultTable
        label="Agents"
        rows={rows}
        columns={columns}
        opened={rows.find(({ id }) => id === opened)}
        onOpen={({ id }) => setOpened(id === opened ? null : id)}
        detail={({ id }) => (
          <Loaded
            label={`Log of ${id}`}
            of={id}
            load={() => load(id)}
            missing="There is no log of this agent."
          />
        )}
      />
    </Card>
  );
}
