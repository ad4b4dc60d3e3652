import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import type { StackSettings } from '../../contract/stack.ts';
import { type HttpServer, listenHttp } from '../../http/http-server.ts';
import type { AgentCard } from '../agent/agent.ts';
import { type AgentInterface, CARD_PATH, JSON_RPC_PATH, REST_PATH } from '../interfaces.ts';
import type { AgentWork } from '../work.ts';
import { WorkExecutor } from './executor.ts';
import { loadExpress, loadSdk, type Sdk } from './sdk.ts';

/** Maximum bytes of a body in express; the SDK does not pass on an option for it. */
const EXPRESS_LIMIT_BYTES = 100 * 1024;

/** An agent of the SDK, without a transport. */
export interface SdkAgent {
  readonly sdk: Sdk;
  readonly handler: InstanceType<Sdk['server']['DefaultRequestHandler']>;
  /** Sets the interfaces of the card, which is served in this form from then on. */
  setInterfaces(interfaces: readonly AgentInterface[]): void;
  close(): Promise<void>;
}

export async function createSdkAgent(
  purpose: string,
  card: AgentCard,
  work: AgentWork,
  clock = () => new Date(),
): Promise<SdkAgent> {
  const sdk = await loadSdk(purpose);
  const { server, model } = sdk;
  const executor = new WorkExecutor(sdk, work, clock);
  const sdkCard = model.AgentCard.fromJSON(card);
  const handler = new server.DefaultRequestHandler(
    sdkCard,
    new server.InMemoryTaskStore(),
    executor,
    new server.DefaultExecutionEventBusManager(),
    undefined,
    undefined,
    undefined,
    undefined,
    { validateInputModes: true },
  );
  return {
    sdk,
    handler,
    setInterfaces(interfaces) {
      sdkCard.supportedInterfaces = interfaces.map((each) => ({ ...each, tenant: '' }));
    },
    async close() {
      executor.close();
    },
  };
}

/** Serves the card, JSON-RPC and REST of an agent by the SDK's handlers for express, on one port. */
export async function serveSdkHttp(
  purpose: string,
  { handler: requestHandler }: SdkAgent,
  settings: StackSettings,
): Promise<HttpServer> {
  const { express, handlers } = await loadExpress(purpose);
  const userBuilder = handlers.UserBuilder.noAuthentication;
  const app = express();
  const large = express.json({ limit: MAX_FRAME_BYTES, type: ['application/json', 'application/a2a+json'] });
  app.use((request, response, next) => {
    if (Number(request.headers['content-length']) > EXPRESS_LIMIT_BYTES) large(request, response, next);
    else next();
  });
  app.use(CARD_PATH, handlers.agentCardHandler({ agentCardProvider: requestHandler }));
  app.use(JSON_RPC_PATH, handlers.jsonRpcHandler({ requestHandler, userBuilder }));
  app.use(REST_PATH, handlers.restHandler({ requestHandler, userBuilder }));
  return listenHttp(app, settings);
}
