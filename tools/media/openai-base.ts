import type { DataToolContext } from '../data-tool.ts';
import { resolveServiceUrl, type ServiceName } from '../web/services.ts';

/** Returns the base URL of an OpenAI-compatible service: users write it with `/v1` at the end, as the SDKs do, or without. */
export function resolveOpenaiBase(
  service: ServiceName & ('vision' | 'whisper'),
  environment: DataToolContext['environment'],
): string {
  const url = resolveServiceUrl(service, environment);
  return /\/v\d+$/.test(url) ? url : `${url}/v1`;
}
