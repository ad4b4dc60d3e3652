import { MAX_DECODED_VALUES } from '@gaia-mesh/core/contracts/limits.ts';
import { expect, test } from 'vitest';
import { loadAdapter } from '../registry.ts';
import { plainPacket } from '../testing/packets.ts';
import { opened } from '../testing/session.ts';

// One adapter for each kind of scanner.
test.each(['msgpack', 'cbor', 'json', 'toon', 'a2a-proto'])(
  'a packet of %s that is small and has more values than memory is refused before they are made',
  async (name) => {
    const { codec } = opened(await loadAdapter(name));
    const list = Array.from({ length: MAX_DECODED_VALUES }, () => 0);
    const blob = codec.encode({ ...plainPacket, payload: { list: [list, list.slice(0, 1)] } });
    expect(() => codec.decode(blob)).toThrow(`more than ${MAX_DECODED_VALUES} values`);
  },
  30_000,
);
