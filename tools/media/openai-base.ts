import type { DataToolPlace } from '../data-tool.ts';
import { type ServiceName, serviceKey, serviceUrl } from '../web/services.ts';

/** The base URL of an OpenAI-compatible service: users write it with `/v1` at the end, as the SDKs do, or without. */
export function openaiBase(
  service: ServiceName & ('vision' | 'whisper'),
  environment: DataToolPlace['environment'],
): string {
  const url = serviceUrl(service, environment);
  return /\/v\d+$/.test(url) ? url : `${url}/v1`;
}

/** Local servers want no key. */
export function bearer(
  service: ServiceName & ('vision' | 'whisper'),
  environment: DataToolPlace['environment'],
): Record<string, string> {
  const key = serviceKey(service, environment);
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}
