import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { Client, type MethodDefinition, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import { ConnectionPool } from '../connection-pool.ts';
import type { StackSettings } from '../contract/stack.ts';
import { type Answer, callStack } from './call-stack.ts';
import { createGrpcCredentials, GRPC_OPTIONS, serveGrpc } from './grpc.ts';

/** The only method: packets in, packets out, as JSON. */
const METHOD = 'Exchange';
const PATH = `/mesh.v1.Packets/${METHOD}`;

/** `INTERNAL`: the work failed (gRPC, "Status codes and their use"). */
const INTERNAL = 13;

const bytes = (message: Buffer) => message;
const method: MethodDefinition<Buffer, Buffer> = {
  path: PATH,
  requestStream: false,
  responseStream: false,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
};

/**
 * JSON of packets as the messages of a unary gRPC call, by `@grpc/grpc-js` at both ends.
 */
export const jsonGrpc = callStack({
  transport: 'grpc',
  implementation: 'sdk',
  // The package cannot leave Nagle's algorithm on.
  async listen(answer, settings) {
    const { port, close } = await serveGrpc(
      { [METHOD]: method },
      { [METHOD]: createHandler(answer) },
      settings,
    );
    return {
      address: `grpc://127.0.0.1:${settings.advertisedPort ?? port}`,
      port,
      async close() {
        close();
      },
    };
  },
  async dial(address, settings) {
    const pool = await ConnectionPool.opened(() => openChannel(address, settings), settings);
    return {
      call: (body, signal) => pool.with(({ client }) => call(client, Buffer.from(body), signal)),
      close: () => pool.close(),
    };
  },
});

function createHandler(answer: Answer) {
  return (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>): void => {
    const over = new AbortController();
    call.once('cancelled', () => over.abort());
    answer(call.request, over.signal).then(
      (body) => callback(null, body),
      (error) => callback({ code: INTERNAL, details: shortenReason(toErrorMessage(error)) }),
    );
  };
}

interface Channel {
  readonly client: Client;
  readonly isClosed: boolean;
  close(): void;
}

async function openChannel(address: string, settings: StackSettings): Promise<Channel> {
  // Without this option all channels of the process to one address share their connection.
  const options = { ...GRPC_OPTIONS, 'grpc.use_local_subchannel_pool': 1 };
  const client = new Client(new URL(address).host, createGrpcCredentials(settings), options);
  await new Promise<void>((resolve, reject) => {
    client.waitForReady(Date.now() + settings.deadlineMs, (error) => {
      if (error === undefined) return resolve();
      client.close();
      reject(new MeshError('agent', `json/grpc: ${address}: ${toErrorMessage(error)}`, { cause: error }));
    });
  });
  return { client, isClosed: false, close: () => client.close() };
}

function call(client: Client, request: Buffer, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The package gets no deadline: it would write the remaining time into the head, in a varying number of
    // digits.
    const unary = client.makeUnaryRequest(PATH, bytes, bytes, request, (error, answer) => {
      signal.removeEventListener('abort', cancel);
      if (answer !== undefined) resolve(answer);
      else reject(new MeshError('agent', `json/grpc: ${toErrorMessage(error)}`, { cause: error }));
    });
    const cancel = () => unary.cancel();
    signal.addEventListener('abort', cancel, { once: true });
  });
}
