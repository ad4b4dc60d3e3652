import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { explainBlockedPort } from '../blocked-port.ts';
import type { DataToolContext } from '../data-tool.ts';

/** A service on the network that a tool calls. */
interface Service {
  /** The environment variable that replaces its URL by that of a proxy, a compatible server or a test's server. */
  readonly variable: string;
  /** Replaces its URL together with those of other services if its own variable is not set. */
  readonly sharedVariable?: string;
  /** The default URL; services without one exist only if the user sets them up. */
  readonly url?: string;
  /** Variables that hold its key; the first that is set wins. */
  readonly keys?: readonly string[];
  /** Matches its keys wherever they stand. */
  readonly keyShape?: RegExp;
  /** Minimum milliseconds between requests to the public service, if its terms ask for a pause. */
  readonly gapMs?: number;
  /** Maximum concurrent requests. */
  readonly concurrency?: number;
  /** True if `/v1` belongs to the end of its URL: users write it there, as the SDKs do, or leave it out. */
  readonly isVersioned?: boolean;
}

/**
 * All services, with the variable that replaces each URL: `<NAME>_BASE_URL`, except for SearXNG, whose variable is older than this table.
 * A base URL may have a path; the request's path is appended to it.
 */
const services = {
  duckduckgo: { variable: 'DUCKDUCKGO_BASE_URL', url: 'https://html.duckduckgo.com', concurrency: 1 },
  duckduckgoLite: {
    variable: 'DUCKDUCKGO_LITE_BASE_URL',
    url: 'https://lite.duckduckgo.com',
    concurrency: 1,
  },
  tavily: {
    variable: 'TAVILY_BASE_URL',
    url: 'https://api.tavily.com',
    keys: ['TAVILY_API_KEY'],
    keyShape: /tvly-[\w-]{16,}/,
  },
  searxng: { variable: 'SEARXNG_URL' },
  /** `{language}` stands for the code of the Wikipedia. Its etiquette asks for one request at a time. */
  wikipedia: { variable: 'WIKIPEDIA_BASE_URL', url: 'https://{language}.wikipedia.org', concurrency: 1 },
  /** Its terms allow one connection and at most one request every 3 seconds. */
  arxiv: { variable: 'ARXIV_BASE_URL', url: 'https://export.arxiv.org', gapMs: 3000, concurrency: 1 },
  youtube: { variable: 'YOUTUBE_BASE_URL', url: 'https://www.youtube.com', concurrency: 1 },
  huggingface: {
    variable: 'HF_BASE_URL',
    url: 'https://huggingface.co',
    keys: ['HF_TOKEN'],
    keyShape: /hf_\w{16,}/,
  },
  scoring: { variable: 'SCORING_BASE_URL', url: 'https://agents-course-unit4-scoring.hf.space' },
  gemini: {
    variable: 'GEMINI_BASE_URL',
    url: 'https://generativelanguage.googleapis.com',
    keys: ['GEMINI_API_KEY'],
    keyShape: /AIza[\w-]{30,}/,
  },
  vision: {
    variable: 'VISION_BASE_URL',
    sharedVariable: 'OPENAI_BASE_URL',
    url: 'https://api.openai.com/v1',
    isVersioned: true,
    keys: ['VISION_API_KEY', 'OPENAI_API_KEY'],
  },
  whisper: {
    variable: 'WHISPER_BASE_URL',
    sharedVariable: 'OPENAI_BASE_URL',
    url: 'https://api.openai.com/v1',
    isVersioned: true,
    keys: ['WHISPER_API_KEY', 'OPENAI_API_KEY'],
  },
} satisfies Readonly<Record<string, Service>>;

export type ServiceName = keyof typeof services;

export const SERVICES: Readonly<Record<ServiceName, Service>> = services;

/** Returns the variables that hold these services' URLs and keys, or the user's contact. */
export function listServiceVariables(names: readonly ServiceName[]): string[] {
  const variables = names.flatMap((name) => {
    const { variable, sharedVariable, keys = [] } = SERVICES[name];
    return [variable, ...(sharedVariable === undefined ? [] : [sharedVariable]), ...keys];
  });
  return [...new Set([...variables, 'GAIA_MESH_CONTACT'])];
}

type Environment = DataToolContext['environment'];

/**
 * Returns the URL of a service, without a slash at the end.
 *
 * @throws MeshError `tool` if the variable holds no http or https URL, or one that cannot be used, or is needed and not set
 */
export function resolveServiceUrl(name: ServiceName, environment: Environment): string {
  const service = SERVICES[name];
  const given = readMovedUrl(service, environment) ?? service.url;
  if (given === undefined) {
    throw new MeshError('tool', `no ${name} server is known: set ${service.variable} to its address`);
  }
  // `{language}` is not part of a valid URL yet.
  const url = URL.parse(given.replace('{language}', 'language'));
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new MeshError('tool', `${service.variable} must be an http or https URL`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new MeshError(
      'tool',
      `${service.variable} must be given without a password: it would be in every log`,
    );
  }
  const blocked = explainBlockedPort(url);
  if (blocked !== undefined) throw new MeshError('tool', `${service.variable}: ${blocked}`);
  const plain = given.replace(/\/+$/, '');
  return service.isVersioned === true && !/\/v\d+$/.test(plain) ? `${plain}/v1` : plain;
}

/** Returns true if the user replaced the URL of the service. */
export function isMoved(name: ServiceName, environment: Environment): boolean {
  return readMovedUrl(SERVICES[name], environment) !== undefined;
}

function readMovedUrl(
  { variable, sharedVariable = variable }: Service,
  environment: Environment,
): string | undefined {
  return environment[variable] || environment[sharedVariable] || undefined;
}

export function readServiceKey(name: ServiceName, environment: Environment): string | undefined {
  const { keys = [] } = SERVICES[name];
  return keys.map((key) => environment[key]).find((key) => key !== undefined && key !== '');
}

/**
 * Returns the key of a service that needs one.
 *
 * @throws MeshError `tool`, naming the variable and what to do instead
 */
export function requireServiceKey(name: ServiceName, environment: Environment, instead: string): string {
  const key = readServiceKey(name, environment);
  if (key !== undefined) return key;
  throw new MeshError('tool', `no key: set ${SERVICES[name].keys?.join(' or ')} (in .env); ${instead}`);
}
