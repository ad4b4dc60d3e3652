import type { ProtocolAdapter } from '../contracts/adapter.ts';
import { openMembers } from '../wire/members.ts';
import type { Recording } from './recording.ts';

/**
 * What a model would have to read: the tokens of every packet of a recording as `adapter` writes it, by the o200k_base encoding
 * (GPT-4o and later). null for adapters that write no text.
 */
export async function promptTokens(recording: Recording, adapter: ProtocolAdapter): Promise<number | null> {
  // 2 MB, for those alone who count.
  const { tokensOf } = await import('../tokens/o200k.ts');
  const codecs = openMembers(
    adapter,
    recording.header.run_id,
    recording.header.agents.map((agent) => agent.id),
  );
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let tokens = 0;
  for (const { packet } of recording.packets) {
    const blob = codecs.get(packet.from)?.encode(packet);
    if (blob === undefined) return null;
    try {
      const text = decoder.decode(blob);
      if (hasControls(text)) return null;
      tokens += tokensOf(text);
    } catch {
      return null; // Bytes that are no UTF-8 are no text.
    }
  }
  return tokens;
}

/** Binary formats that happen to be UTF-8 give themselves away by control characters; text formats escape them. */
function hasControls(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 32 && code !== 9 && code !== 10 && code !== 13) return true;
  }
  return false;
}
