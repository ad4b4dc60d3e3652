import { withPackage } from '../../../../core/system/optional-package.ts';

const CLIENT = '@modelcontextprotocol/client';
const SERVER = '@modelcontextprotocol/server';

/** Packages of MCP's own SDK, loaded when a binding asks for them. */
export const MCP_HTTP_PACKAGES = [CLIENT, SERVER, '@modelcontextprotocol/node', 'undici'] as const;

/** @throws MeshError `config` where it is not installed, as of the others */
export function loadServer(purpose: string) {
  return withPackage(`${SERVER}@2`, purpose, () => import('@modelcontextprotocol/server'));
}

export function loadNodeServer(purpose: string) {
  return withPackage('@modelcontextprotocol/node@2', purpose, () => import('@modelcontextprotocol/node'));
}

export function loadClient(purpose: string) {
  return withPackage(`${CLIENT}@2`, purpose, () => import('@modelcontextprotocol/client'));
}

export type SdkServer = Awaited<ReturnType<typeof loadServer>>;
