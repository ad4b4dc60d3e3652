import { MESH_EXTENSION } from '@gaia-mesh/protocols/a2a/message.ts';
import type { AgentCard } from './agent/agent.ts';

/** The card of an agent that receives packets. */
export const meshCard: AgentCard = {
  name: 'mesh',
  description: 'Takes packets and answers them',
  version: '1',
  capabilities: {
    streaming: true,
    pushNotifications: true,
    extensions: [{ uri: MESH_EXTENSION, description: 'The rest of a packet', required: false }],
  },
  defaultInputModes: ['application/json'],
  defaultOutputModes: ['application/json'],
  skills: [{ id: 'packet', name: 'packet', description: 'Takes one packet', tags: ['mesh'] }],
};
