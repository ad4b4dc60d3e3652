import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';

/** This module loads the packages of MCP's own SDK on demand. */

/** @throws MeshError `config` if the package is not installed, like the functions below */
export function loadServer(purpose: string) {
  return withPackage('@modelcontextprotocol/server@2', purpose, () => import('@modelcontextprotocol/server'));
}

export function loadClient(purpose: string) {
  return withPackage('@modelcontextprotocol/client@2', purpose, () => import('@modelcontextprotocol/client'));
}

export async function loadStdioServer(purpose: string) {
  const sdk = await loadServer(purpose);
  const stdio = await withPackage(
    '@modelcontextprotocol/server@2',
    purpose,
    () => import('@modelcontextprotocol/server/stdio'),
  );
  return { sdk, stdio };
}
