import { onTestFinished } from 'vitest';
import type { DataToolContext } from '../../data-tool.ts';
import { dataToolPlace } from '../../fixtures/data-tool-place.ts';
import type { WebServiceName } from '../../fixtures/web-answer.ts';
import { startWebServices, type WebScript, type WebServices } from '../../fixtures/web-server.ts';

export type WebScripts = Partial<Record<WebServiceName, WebScript>>;

/** Services of the web that answer by their scripts until the test has ended, and a place for a tool that leads to them. */
export async function serveWeb(
  scripts: WebScripts = {},
  changes: Partial<DataToolContext> = {},
): Promise<WebServices & { readonly place: DataToolContext }> {
  const services = await startWebServices(scripts);
  onTestFinished(() => services.close());
  return { ...services, place: dataToolPlace({ environment: services.environment, ...changes }) };
}
