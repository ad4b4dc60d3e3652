import type { Recording } from '../recording/recording.ts';

/** Header of a recorded run of two agents, the second of which answers. */
export const sampleHeader: Recording['header'] = {
  run_id: 'r',
  team: 'pipeline',
  final: '1',
  routing: 'broadcast',
  adapter: 'json',
  engine: 'extractive',
  agents: [
    { id: '0', tool: 'search' },
    { id: '1', tool: 'reason' },
  ],
};
