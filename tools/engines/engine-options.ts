import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { ModelCapabilities } from './abilities/model-abilities.ts';
import type { Pace } from './http/retry.ts';
import type { Permits } from './permits.ts';
import type { Environment } from './servers/server-key.ts';

/** What an engine may be told; the embedded one needs none of it. */
export interface EngineOptions {
  readonly model?: string;
  /** Of the model server: a URL, or `host:port`. */
  readonly host?: string;
  /**
   * The engine's own (`max_retries`, `fallback_model`, `fallback_base_url`, `price`, `fallback_price`, `tool_calls`, `context`), and the model's, which
   * go to the server as they are: `seed`, `temperature`, `num_ctx`, `max_tokens`, …
   */
  readonly options?: Readonly<Record<string, JsonValue>>;
  /** For one request to the server, from asking to the end of its reply. */
  readonly timeoutMs?: number;
  /** From one piece of a reply that has begun to the next; two minutes without it. */
  readonly idleMs?: number;
  /** What the server says of its model; undefined where it says nothing. Without it, it is not asked. */
  readonly askAbilities?: () => Promise<ModelCapabilities | undefined>;
  /** The text of the prompt of that name. */
  readonly prompts: (name: string) => string;
  /** Keys and addresses of servers; without it the process's. */
  readonly environment?: Environment;
  /** Who may ask a server when; without it at most four requests of this process at once. */
  readonly permits?: Permits;
  /** Clock and chance of retries; without it the real ones. */
  readonly pace?: Pace;
}
