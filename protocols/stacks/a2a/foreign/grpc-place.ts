import { parseForeignUrl } from '@gaia-mesh/core/system/outgoing-url.ts';

/**
 * Where a card says that its gRPC is: `host:port`, or a URL. Where it does not say whether by TLS, it is as the card came; a card that came by
 * TLS does not lead to where there is none.
 *
 * @returns undefined for what is no such place
 */
export function parseGrpcEndpoint(text: string, cardUrl: URL): URL | undefined {
  const [, scheme = '', authority = ''] =
    /^(?:(?:(https?|grpcs?):\/\/)|(?:dns:(?:\/\/\/)?))?([^/]+)\/?$/i.exec(text) ?? [];
  const isSecure = cardUrl.protocol === 'https:';
  const saysTls = /^(?:https|grpcs)$/i.test(scheme);
  if (isSecure && /^http$/i.test(scheme)) return undefined;
  return parseForeignUrl(`${isSecure || saysTls ? 'https' : 'http'}://${authority}`);
}
