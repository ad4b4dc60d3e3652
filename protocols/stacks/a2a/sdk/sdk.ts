import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';

/** This module loads the packages of A2A's own SDK on demand. */

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** @throws MeshError `config` if it is not installed */
export function loadSdk(purpose: string) {
  return withPackage('@a2a-js/sdk@1', purpose, async () => ({
    model: await import('@a2a-js/sdk'),
    client: await import('@a2a-js/sdk/client'),
    server: await import('@a2a-js/sdk/server'),
  }));
}

/** @throws MeshError `config` if one of the two is not installed */
export function loadExpress(purpose: string) {
  return withPackage('@a2a-js/sdk@1 express@5', purpose, async () => ({
    express: (await import('express')).default,
    handlers: await import('@a2a-js/sdk/server/express'),
  }));
}
