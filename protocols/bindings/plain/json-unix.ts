import { randomUUID } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { MeshError } from '../../../core/contracts/errors.ts';
import { json } from '../../json.ts';
import { metered } from '../meter/metered.ts';
import { framed, type Places, streamTraits } from './stream/framed-binding.ts';
import { coderOf } from './stream/packet-coder.ts';

const SCHEME = 'unix:';

const socketFiles: Places = {
  // Short: the operating system takes 104 to 108 bytes.
  free: () => ({ path: path.join(os.tmpdir(), `gaia-mesh-${randomUUID().slice(0, 8)}.sock`) }),
  addressOf: (place) => ('path' in place ? `${SCHEME}${place.path}` : ''),
  placeIn(address) {
    if (!address.startsWith(SCHEME)) throw new MeshError('usage', `expected unix:PATH, came ${address}`);
    return { path: address.slice(SCHEME.length) };
  },
};

const NAME = 'json/unix';

/** JSON behind a length of four bytes on a Unix domain socket: the least that there is between two processes. */
export const jsonUnix = metered({
  name: NAME,
  protocol: 'json',
  transport: 'unix',
  implementation: 'bare',
  packages: [],
  traits: { ...streamTraits, hasTls: false },
  ...framed(NAME, socketFiles, () => coderOf(json)),
});
