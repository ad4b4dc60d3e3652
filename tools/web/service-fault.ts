import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { readErrorWords } from '../http/error-words.ts';
import { findConnectionFault } from '../http/fetch.ts';
import { ServiceRefusal } from '../http/service.ts';
import { removeSecrets, SERVICES, type Service, type ServiceContext, type ServiceName } from './services.ts';

/**
 * Explains a failed call to the caller, without keys; an error that is none of the expected failures is a bug and is
 * returned as it is.
 */
export function explainServiceFault(
  error: unknown,
  name: ServiceName,
  origin: string,
  { environment, signal }: ServiceContext,
): unknown {
  if (error instanceof MeshError) return error;
  const { variable }: Service = SERVICES[name];
  // The cause is left out because it holds the request, and the request holds the key.
  const fault = (message: string) =>
    new MeshError('tool', removeSecrets(shortenReason(message), environment));
  if (signal.aborted) return fault(`${name}: stopped, the task has ended`);
  if (!(error instanceof Error)) return error;
  if (error instanceof ServiceRefusal) {
    const { status } = error;
    const said = findErrorText(error.text);
    return fault(
      `${name} answered with status ${status}${said === '' ? '' : `: ${said}`}${adviseStatus(status, name)}`,
    );
  }
  if (error.name === 'TimeoutError') {
    return fault(`${name} at ${origin} did not answer in time: try again later, or set options.timeout_ms`);
  }
  const broken = findConnectionFault(error);
  if (broken === undefined) return error;
  return fault(
    `no network: ${name} at ${origin} cannot be reached (${broken.code}); check the connection, or ${variable}`,
  );
}

function adviseStatus(status: number, name: ServiceName): string {
  const { keys }: Service = SERVICES[name];
  if ((status === 401 || status === 403) && keys !== undefined) return ` (check ${keys.join(' or ')})`;
  if (status === 429) return ' (too many requests: try again later, or use another tool)';
  return status >= 500 ? ' (the service is out of order: try again later, or use another tool)' : '';
}

/** Returns the message in the body of a failure; a page of HTML and unknown JSON have none. */
function findErrorText(text: string): string {
  const said = readErrorWords(text)?.message;
  if (said !== undefined) return said.trim();
  return tryParseJson(text) !== undefined || text.includes('<') ? '' : text.trim().slice(0, 300);
}
