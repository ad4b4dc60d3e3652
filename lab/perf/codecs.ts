import type { Codec } from '@gaia-mesh/core/contracts/adapter.ts';
import { HUB_ID, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { openMembers } from '@gaia-mesh/core/wire/members.ts';
import type { SampleComparison } from '@gaia-mesh/evaluation/statistics/levels.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { Encoder } from 'cbor-x';
import { Packr } from 'msgpackr';
import { runBench, useRunFolder } from '../measure/bench-runs.ts';
import { compareRounds, runInterleaved } from '../measure/rounds.ts';

/** A codec library, called as in a program without a mesh. */
interface CodecLibrary {
  encode(value: unknown): Uint8Array;
  decode(blob: Uint8Array): unknown;
}

const packr = new Packr({ useRecords: false, variableMapSize: true });
const cbor = new Encoder({ useRecords: false, variableMapSize: true });

const libraries: Readonly<Record<string, CodecLibrary>> = {
  json: {
    encode: (value) => Buffer.from(JSON.stringify(value)),
    decode: (blob) => JSON.parse(Buffer.from(blob.buffer, blob.byteOffset, blob.length).toString()),
  },
  msgpack: { encode: (value) => packr.pack(value), decode: (blob) => packr.unpack(blob) },
  cbor: { encode: (value) => cbor.encode(value), decode: (blob) => cbor.decode(blob) },
};

/** Ratios of the adapter's time to its library's, for all packets of the default run. */
export interface CodecTimes {
  readonly adapter: string;
  readonly encode: SampleComparison;
  readonly decode: SampleComparison;
}

const SEED = 1;
/** Number of times that all packets are coded in one measurement, which takes about a millisecond. */
const REPEATS = 10;
const WARM_UP_ROUNDS = 50;

/** Measures adapters against the libraries that they call, in pairs of random order. */
export function measureCodecs(rounds: number): Promise<CodecTimes[]> {
  return useRunFolder(async (folder, signal) => {
    await runBench(folder, ['--quiet']);
    const { packets } = await readRecording(`${folder}/run_artifacts.tar.gz`);
    const times: CodecTimes[] = [];
    for (const [adapter, library] of Object.entries(libraries)) {
      const codec = openMembers(await loadAdapter(adapter), 'lab', []).get(HUB_ID);
      if (codec === undefined) continue;
      const targets = createCodecTargets(
        codec,
        library,
        packets.map(({ packet }) => packet),
      );
      const ms = await runInterleaved(targets, {
        rounds,
        warmUp: WARM_UP_ROUNDS,
        seed: SEED,
        signal,
        shownAs: 'rounds',
      });
      times.push({
        adapter,
        encode: compareRounds(ms.libraryEncode, ms.encode),
        decode: compareRounds(ms.libraryDecode, ms.decode),
      });
    }
    return times;
  });
}

function createCodecTargets(codec: Codec, library: CodecLibrary, packets: readonly Packet[]) {
  const blobs = packets.map((packet) => codec.encode(packet));
  const timed = (work: () => void) => () => {
    const beganMs = performance.now();
    for (let i = 0; i < REPEATS; i++) work();
    return performance.now() - beganMs;
  };
  return {
    encode: timed(() => packets.forEach((packet) => void codec.encode(packet))),
    libraryEncode: timed(() => packets.forEach((packet) => void library.encode(packet))),
    decode: timed(() => blobs.forEach((blob) => void codec.decode(blob))),
    libraryDecode: timed(() => blobs.forEach((blob) => void library.decode(blob))),
  };
}
