import { serveEcho } from './echo-team.ts';

/** A served team in a process of its own, whose memory can be bounded and measured. It ends with its parent. */
const serving = await serveEcho();
process.send?.({ url: serving.url });
process.on('message', () => process.send?.({ ...process.memoryUsage() }));
process.on('disconnect', () => process.exit());
