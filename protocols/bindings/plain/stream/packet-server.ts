import type { Packet } from '../../../../core/contracts/packet.ts';
import type { Inbox } from '../../contract/binding.ts';
import { failureOf } from './failure.ts';
import type { MessageStream, StreamHandler } from './message-stream.ts';
import type { PacketCoder } from './packet-coder.ts';

/** What a server does with the packets of one connection: each is worked on at once, and answered when that is done. */
export function packetHandler(
  inbox: Inbox,
  coder: PacketCoder,
  stream: () => MessageStream | undefined,
): StreamHandler {
  const over = new AbortController();
  const send = (packet: Packet) => {
    for (const message of coder.encode(packet)) stream()?.send(message);
  };
  const answer = async (packet: Packet) => {
    try {
      for (const reply of await inbox(packet, over.signal)) {
        send(reply.reply_to === undefined ? { ...reply, reply_to: packet.id } : reply);
      }
    } catch (error) {
      send(failureOf(packet, error));
    }
  };
  return {
    onMessage(message) {
      const packet = decoded(coder, message);
      if (packet === 'refused') stream()?.close();
      else if (packet !== undefined) void answer(packet);
    },
    onClose: () => over.abort(),
  };
}

/** A message that is no packet is nobody's request, so there is nobody to tell; its sender is not listened to any longer. */
function decoded(coder: PacketCoder, message: Uint8Array): Packet | undefined | 'refused' {
  try {
    return coder.decode(message);
  } catch {
    return 'refused';
  }
}
