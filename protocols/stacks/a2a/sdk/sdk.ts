import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';

/** Packages of A2A's own SDK, loaded when a stack asks for them. */

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** @throws MeshError `config` where it is not installed */
export function loadSdk(purpose: string) {
  return withPackage('@a2a-js/sdk@1', purpose, async () => ({
    model: await import('@a2a-js/sdk'),
    client: await import('@a2a-js/sdk/client'),
    server: await import('@a2a-js/sdk/server'),
  }));
}

/** @throws MeshError `config` where one of the two is not installed */
export function loadExpress(purpose: string) {
  return withPackage('@a2a-js/sdk@1 express@5', purpose, async () => ({
    express: (await import('express')).default,
    handlers: await import('@a2a-js/sdk/server/express'),
  }));
}
