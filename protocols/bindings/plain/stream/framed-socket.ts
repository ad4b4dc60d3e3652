import type { Socket } from 'node:net';
import { MAX_FRAME_BYTES } from '../../../../core/contracts/limits.ts';
import { FrameReader, frameOf } from '../../../../core/wire/frame.ts';
import type { WireMeter } from '../../meter/wire-meter.ts';
import type { MessageStream, StreamHandler } from './message-stream.ts';

/** Messages as the mesh's frames: each behind its length in four bytes, on a socket of any kind. */
export function framedSocket(socket: Socket, handler: StreamHandler, meter: WireMeter): MessageStream {
  const reader = new FrameReader(MAX_FRAME_BYTES, (run) => {
    for (const blob of run.blobs()) {
      meter.received(blob.length);
      handler.onMessage(blob);
    }
  });
  let fault: Error | undefined;
  socket.on('data', (chunk: Buffer) => {
    try {
      reader.push(chunk);
    } catch (error) {
      socket.destroy(error instanceof Error ? error : undefined);
    }
  });
  socket.on('error', (error) => {
    fault = error;
  });
  socket.on('close', () => {
    reader.end();
    handler.onClose(fault);
  });
  return {
    get isClosed() {
      return socket.destroyed;
    },
    send(message) {
      meter.sent(message.length);
      socket.write(frameOf(message));
    },
    close: () => socket.destroy(),
  };
}
