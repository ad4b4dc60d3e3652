import { offerTeam, type Serving, serveOffer } from '../serve-team.ts';
import type { ServedTeam } from '../served-team.ts';

const TOKEN = 'the token of the tests';

type Asked = Pick<ServedTeam, 'ask' | 'name'>;

/** A team without agents: it answers with the question, and works on `wait` until it is cancelled. */
const echoTeam: Asked = {
  name: 'echo',
  async ask({ question }, signal, onProgress) {
    onProgress('agent 0 sent heard (packet 1)', 1);
    if (question === 'wait') await new Promise((_, reject) => signal.addEventListener('abort', reject));
    return {
      answer: `You said: ${question}`,
      status: 'answered',
      task_id: 'ask-1',
      elapsed_ms: 1,
      packets: 2,
      bytes: 100,
      tokens: 0,
      model_calls: 0,
      cost_usd: 0,
    };
  },
};

type Served = Parameters<typeof offerTeam>[1] & Parameters<typeof serveOffer>[1] & { hasToken: boolean };

/** Serves a team as the command does, on free ports. */
export async function serveEcho(
  { hasToken = true, ...given }: Partial<Served> = {},
  team = echoTeam,
): Promise<Serving & { readonly token: string }> {
  const plan = {
    description: 'A team that repeats the question',
    mcp: 'http' as const,
    a2a: true,
    limits: { tasks: 4, waiting: 16, bytes: 1024 * 1024 },
    ...given,
  };
  const address = { listen: '127.0.0.1', port: 0, pushTo: [], ...given };
  const serving = await serveOffer(offerTeam(team, plan, hasToken), address, hasToken ? TOKEN : undefined);
  return { ...serving, token: TOKEN };
}
