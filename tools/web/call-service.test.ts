import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { dataToolPlace } from '../fixtures/data-tool-place.ts';
import { startWebServices, type WebScript, type WebServices } from '../fixtures/web-server.ts';
import { callService, type ServiceCall } from './call-service.ts';

const started: WebServices[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((services) => services.close()));
});

async function serve(tavily: WebScript): Promise<WebServices> {
  const services = await startWebServices({ tavily });
  started.push(services);
  return services;
}

const call: ServiceCall = { service: 'tavily', path: '/search', json: { query: 'x' } };
const tooMany = { status: 429, headers: { 'retry-after': '0' }, body: { detail: { error: 'Slow down.' } } };

function ask({ environment }: WebServices, options = {}, signal = new AbortController().signal) {
  return callService(call, dataToolPlace({ environment, options, signal }));
}

describe('a service that is busy', () => {
  test('is asked again after 429 with Retry-After, also by POST (C-07)', async () => {
    const services = await serve([tooMany, tooMany, { body: 'well' }]);
    expect((await ask(services)).text).toBe('well');
    expect(services.requests.map(({ method, body }) => [method, body])).toEqual(
      Array(3).fill(['POST', '{"query":"x"}']),
    );
  });

  test('is asked six times in all, then given up with what it said (REQ-085)', async () => {
    const services = await serve([tooMany]);
    await expect(ask(services)).rejects.toThrow(
      'tavily answered with status 429: Slow down. (too many requests: try again later, or use another tool)',
    );
    expect(services.requests).toHaveLength(6);
  });

  test('is asked as often as the team file says', async () => {
    const services = await serve([tooMany]);
    await expect(ask(services, { retries: 0 })).rejects.toThrow('status 429');
    expect(services.requests).toHaveLength(1);
  });

  test.each([500, 502, 503, 504])('or broken (%i) is asked again', async (status) => {
    const services = await serve([{ status }, { body: 'well' }]);
    expect((await ask(services)).text).toBe('well');
  });

  test('with a quota that is used up is not asked again', async () => {
    const body = {
      error: { message: 'You exceeded your quota', type: 'insufficient_quota', code: 'insufficient_quota' },
    };
    const services = await serve([{ status: 429, body }]);
    await expect(ask(services)).rejects.toThrow('status 429: You exceeded your quota');
    expect(services.requests).toHaveLength(1);
  });
});

describe('a service that refuses is not asked again, and its words are passed on', () => {
  test.each([
    [{ detail: { error: 'Invalid topic.' } }, ': Invalid topic.'],
    [{ error: { message: 'Wrong model', type: 'x' } }, ': Wrong model'],
    [
      { detail: [{ type: 'missing', loc: ['body', 'answers'], msg: 'Field required' }] },
      ': body.answers: Field required',
    ],
    [{ detail: 'Not so' }, ': Not so'],
    [{ error: 'No query' }, ': No query'],
    ['plain words', ': plain words'],
    ['{"error":"in a text"}', ': in a text'],
    ['<html>a page</html>', ''],
    [{ something: 'else' }, ''],
    ['', ''],
  ])('%j', async (body, said) => {
    const services = await serve([{ status: 400, body }]);
    const failed = await ask(services).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(MeshError);
    expect(failed).toMatchObject({ code: 'tool', message: `tavily answered with status 400${said}` });
    expect(services.requests).toHaveLength(1);
  });

  test('and keys that it repeats are not (RA-50)', async () => {
    const services = await serve(({ headers }) => ({
      status: 401,
      body: { detail: { error: `Wrong key: ${headers['x-key']}` } },
    }));
    const { environment } = services;
    const key = environment.TAVILY_API_KEY ?? '';
    const failed = await callService(
      { ...call, headers: { 'x-key': key } },
      dataToolPlace({ environment }),
    ).catch((error: unknown) => error);
    expect(failed).toHaveProperty(
      'message',
      'tavily answered with status 401: Wrong key: [TAVILY_API_KEY] (check TAVILY_API_KEY)',
    );
    // The key must not be in the error's properties either, which end up in a log.
    expect(JSON.stringify(failed, Object.getOwnPropertyNames(failed))).not.toContain(key);
    expect(failed).not.toHaveProperty('cause');
  });
});

test('no secret of the environment is passed on, wherever it stands (RA-50)', async () => {
  const secrets = {
    OPENAI_API_KEY: 'sk-abcdef',
    HF_TOKEN: 'hf_123456',
    HOME: '/home/me',
    EMPTY_KEY: '',
    SHORT_KEY: 'a',
  };
  const services = await serve([
    { status: 400, body: 'no sk-abcdef, nor (hf_123456) in /home/me: sk-abcdef' },
  ]);
  const environment = { ...services.environment, ...secrets };
  await expect(callService(call, dataToolPlace({ environment }))).rejects.toThrow(
    /: no \[OPENAI_API_KEY\], nor \(\[HF_TOKEN\]\) in \/home\/me: \[OPENAI_API_KEY\]$/,
  );
});

describe('a service that cannot be reached', () => {
  test('means no network, with where it was looked for (REQ-084)', async () => {
    const services = await serve([]);
    const { environment } = services;
    await services.close();
    started.length = 0;
    await expect(callService(call, dataToolPlace({ environment }))).rejects.toThrow(
      `no network: tavily at ${environment.TAVILY_BASE_URL} cannot be reached (ECONNREFUSED); check the connection, or TAVILY_BASE_URL`,
    );
  });

  test('because the connection broke off is tried once more', async () => {
    const services = await serve(['reset', { body: 'well' }]);
    expect((await ask(services)).text).toBe('well');
    const broken = await serve(['reset']);
    await expect(ask(broken)).rejects.toThrow(/^no network: tavily/);
    expect(broken.requests).toHaveLength(2);
  });
});

describe('a reply', () => {
  test('that does not come ends with its time', async () => {
    const services = await serve(['silence']);
    await expect(ask(services, { timeout_ms: 100 })).rejects.toThrow(/^tavily at .* did not answer in time/);
  });

  test('is not waited for when the task has ended', async () => {
    const ended = new AbortController();
    const services = await serve(() => {
      ended.abort();
      return 'silence';
    });
    await expect(ask(services, {}, ended.signal)).rejects.toThrow('tavily: stopped, the task has ended');
  });

  test('larger than 8 MB is not read', async () => {
    const services = await serve([{ body: Buffer.alloc(9 * 1024 * 1024, 'x') }]);
    await expect(ask(services)).rejects.toThrow('the reply of tavily is larger than 8.4 MB');
  });
});

test('options that are no numbers are refused', async () => {
  const services = await serve([{}]);
  await expect(ask(services, { timeout_ms: 'soon' })).rejects.toThrow(/^options: timeout_ms: /);
  expect(services.requests).toHaveLength(0);
});

/** Returns the largest number of three calls that the service had at the same time. Each waits for another one, or for `untilMs`. */
async function mostAtOnce(service: 'wikipedia' | 'tavily', untilMs: number): Promise<number> {
  const company = Promise.withResolvers<void>();
  let [now, most] = [0, 0];
  const services = await startWebServices({
    [service]: async () => {
      now += 1;
      most = Math.max(most, now);
      if (now > 1) company.resolve();
      await Promise.race([company.promise, sleep(untilMs, undefined, { ref: false })]);
      now -= 1;
      return {};
    },
  });
  started.push(services);
  const context = dataToolPlace({ environment: services.environment });
  await Promise.all([1, 2, 3].map(() => callService({ service, path: '/' }, context)));
  expect(services.requests).toHaveLength(3);
  return most;
}

test('a host gets no more requests at once than it takes', async () => {
  expect(await mostAtOnce('wikipedia', 100)).toBe(1);
  // A second call is allowed here, but on a busy machine it may come late.
  expect(await mostAtOnce('tavily', 20_000)).toBeGreaterThan(1);
});

test('a public service whose terms ask for it is asked every three seconds', async () => {
  const services = await startWebServices({ arxiv: [{}] });
  started.push(services);
  const baseUrl = services.environment.ARXIV_BASE_URL ?? '';
  // No variable in the environment replaces the service's URL.
  const ask = () => callService({ service: 'arxiv', path: '/', baseUrl }, dataToolPlace());
  const before = performance.now();
  await Promise.all([ask(), ask()]);
  expect(performance.now() - before).toBeGreaterThan(2900);
});

test('says who asks, and whom to complain to where the user gave it', async () => {
  const services = await serve([{}]);
  await callService(
    call,
    dataToolPlace({ environment: { ...services.environment, GAIA_MESH_CONTACT: 'me@example.org' } }),
  );
  expect(services.requests[0]?.headers['user-agent']).toBe('gaia-mesh (me@example.org)');
});
