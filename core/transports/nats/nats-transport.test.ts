import { expect, test } from 'vitest';
import { MeshError } from '../../contracts/errors.ts';
import { openTransport } from '../run-transport.ts';

test('acknowledged delivery is refused over NATS, before a server is asked for', async () => {
  const opening = openTransport({
    team: { transport: 'nats', nats_url: 'nats://127.0.0.1:1', delivery: 'acknowledged' },
    runId: 'run',
    external: new Set(),
    environment: {},
  });

  await expect(opening).rejects.toThrow(
    new MeshError(
      'usage',
      'acknowledged delivery works over TCP only: use delivery: at-most-once (--delivery) or transport: tcp (--transport)',
    ),
  );
});
