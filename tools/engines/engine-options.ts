import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { Pace } from '../http/service.ts';
import type { ModelCapabilities } from './capabilities.ts';
import type { Permits } from './permits.ts';
import type { Environment } from './server-kind.ts';

/** The options of an engine; the embedded one needs none of them. */
export interface EngineOptions {
  readonly model?: string | undefined;
  /** The model server: a URL, or `host:port`. */
  readonly host?: string | undefined;
  /**
   * The engine's own options (`max_retries`, `fallback_model`, `fallback_base_url`, `price`, `fallback_price`, `tool_calls`, `context`), and
   * those of the model, which go to the server unchanged: `seed`, `temperature`, `num_ctx`, `max_tokens`, …
   */
  readonly options?: Readonly<Record<string, JsonValue>> | undefined;
  /** Time limit of one request, from sending it to the end of the reply. */
  readonly timeoutMs?: number;
  /** Longest pause within a reply; two minutes by default. */
  readonly idleMs?: number;
  /** Returns the server's description of its model, or undefined if it has none. Without this function, the server is not asked. */
  readonly askCapabilities?: () => Promise<ModelCapabilities | undefined>;
  /** Returns the text of a prompt by its name. */
  readonly prompts: (name: string) => string;
  /** Keys and URLs of servers; by default those of the process. */
  readonly environment?: Environment;
  /** Limits the requests; by default to four at once in this process. */
  readonly permits?: Permits;
  /** Clock and randomness of retries; by default the real ones. */
  readonly pace?: Pace;
}
