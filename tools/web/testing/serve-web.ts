import { onTestFinished } from 'vitest';
import type { DataToolContext } from '../../data-tool.ts';
import { dataToolPlace } from '../../fixtures/data-tool-place.ts';
import type { WebServiceName } from '../../fixtures/web-answer.ts';
import { startWebServices, type WebScript, type WebServices } from '../../fixtures/web-server.ts';

export type WebScripts = Partial<Record<WebServiceName, WebScript>>;

/** Starts scripted web services that close after the test, and returns a data tool's context for them. */
export async function serveWeb(
  scripts: WebScripts = {},
  changes: Partial<DataToolContext> = {},
): Promise<WebServices & { readonly place: DataToolContext }> {
  const services = await startWebServices(scripts);
  onTestFinished(() => services.close());
  return { ...services, place: dataToolPlace({ environment: services.environment, ...changes }) };
}
