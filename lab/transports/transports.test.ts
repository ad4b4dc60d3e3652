import { expect, test } from 'vitest';
import { hasNatsServer } from '../../core/transports/nats/nats-server-process.ts';
import { runLab } from '../testing/run-lab.ts';

test.runIf(hasNatsServer() || process.env.CI === 'true')(
  'transports measures both in the same rounds, with the same bytes',
  async () => {
    const { code, stdout, stderr } = await runLab([
      'transports',
      '--invocations',
      '2',
      '--rounds',
      '2',
      '--json',
    ]);

    expect(code, stderr).toBe(0);
    const { figures, packet_bytes } = JSON.parse(stdout);
    expect(figures).toHaveLength(4);
    for (const { tcp, nats, time } of figures) {
      expect(tcp).toBeGreaterThan(0);
      expect(nats).toBeGreaterThan(0);
      // Two invocations are below what a verdict takes.
      expect(time).toMatchObject({ invocations: 2, rounds: 2, verdict: 'cannot tell' });
    }
    expect(packet_bytes.nats).toBe(packet_bytes.tcp);
  },
);
