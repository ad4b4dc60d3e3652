import { Encoder } from 'cbor-x';
import { Packr } from 'msgpackr';
import type { Codec } from '../../core/adapter.ts';
import { openMembers } from '../../core/members.ts';
import { HUB_ID, type Packet } from '../../core/packet.ts';
import { readArchivedRecording } from '../../core/recording/read-archive.ts';
import { type Comparison, compare } from '../../core/statistics/paired.ts';
import { Random } from '../../core/statistics/random.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import { inFolder, runBench } from './measure.ts';

/** A codec library as somebody without a mesh would call it. */
interface Library {
  encode(value: unknown): Uint8Array;
  decode(blob: Uint8Array): unknown;
}

const packr = new Packr({ useRecords: false, variableMapSize: true });
const cbor = new Encoder({ useRecords: false, variableMapSize: true });

const libraries: Readonly<Record<string, Library>> = {
  json: {
    encode: (value) => Buffer.from(JSON.stringify(value)),
    decode: (blob) => JSON.parse(Buffer.from(blob.buffer, blob.byteOffset, blob.length).toString()),
  },
  msgpack: { encode: (value) => packr.pack(value), decode: (blob) => packr.unpack(blob) },
  cbor: { encode: (value) => cbor.encode(value), decode: (blob) => cbor.decode(blob) },
};

/** The adapter's time over its library's, for all packets of the default run. */
export interface CodecFigures {
  readonly adapter: string;
  readonly encode: Comparison;
  readonly decode: Comparison;
}

const SEED = 1;
/** Times that all packets are coded in one measurement: about a millisecond. */
const REPEATS = 10;
const WARM_UP_ROUNDS = 50;

/** Adapters against the libraries that they call, in pairs of random order. */
export async function measureCodecs(rounds: number): Promise<CodecFigures[]> {
  const packets = await inFolder(async (folder) => {
    await runBench(folder, ['--quiet']);
    return (await readArchivedRecording(`${folder}/run_artifacts.tar.gz`)).packets.map(
      ({ packet }) => packet,
    );
  });
  const random = new Random(SEED);
  const figures: CodecFigures[] = [];
  for (const [adapter, library] of Object.entries(libraries)) {
    const codec = openMembers(await adapterNamed(adapter), 'perf', []).get(HUB_ID);
    if (codec !== undefined) figures.push({ adapter, ...pairsOf(codec, library, packets, rounds, random) });
  }
  return figures;
}

function pairsOf(
  codec: Codec,
  library: Library,
  packets: readonly Packet[],
  rounds: number,
  random: Random,
): Pick<CodecFigures, 'encode' | 'decode'> {
  const blobs = packets.map((packet) => codec.encode(packet));
  const arm = (work: () => void) => ({ work, ms: [] as number[] });
  const ownEncode = arm(() => packets.forEach((packet) => void codec.encode(packet)));
  const libraryEncode = arm(() => packets.forEach((packet) => void library.encode(packet)));
  const ownDecode = arm(() => blobs.forEach((blob) => void codec.decode(blob)));
  const libraryDecode = arm(() => blobs.forEach((blob) => void library.decode(blob)));
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const { work, ms } of random.shuffle([ownEncode, libraryEncode, ownDecode, libraryDecode])) {
      const beginMs = performance.now();
      for (let i = 0; i < REPEATS; i++) work();
      if (round >= 0) ms.push(performance.now() - beginMs);
    }
  }
  return {
    encode: compare(libraryEncode.ms, ownEncode.ms, { seed: SEED }),
    decode: compare(libraryDecode.ms, ownDecode.ms, { seed: SEED }),
  };
}
