import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';

/** Packages of MCP's own SDK, loaded when a stack asks for them. */

/** @throws MeshError `config` where it is not installed, as of the others */
export function loadServer(purpose: string) {
  return withPackage('@modelcontextprotocol/server@2', purpose, () => import('@modelcontextprotocol/server'));
}

export function loadNodeServer(purpose: string) {
  return withPackage('@modelcontextprotocol/node@2', purpose, () => import('@modelcontextprotocol/node'));
}

export function loadClient(purpose: string) {
  return withPackage('@modelcontextprotocol/client@2', purpose, () => import('@modelcontextprotocol/client'));
}

export type SdkServer = Awaited<ReturnType<typeof loadServer>>;
