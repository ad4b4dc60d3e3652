import { testStack } from '../testing/stack-contract.ts';
import { jsonUnix, makeMeshStack } from './framed.ts';
import { jsonGrpc } from './json-grpc.ts';
import { jsonHttp1 } from './json-http1.ts';
import { jsonWebSocket } from './json-websocket.ts';

/** What another adapter on the same sockets may change. */
const OF_ADAPTERS = /^(packets arrive|work that fails|every byte is|a proxy between|bytes are the same)/;

testStack(await makeMeshStack('json'));
for (const spec of ['msgpack+zstd', 'anp']) testStack(await makeMeshStack(spec), OF_ADAPTERS);
for (const stack of [jsonUnix, jsonHttp1, jsonWebSocket, jsonGrpc]) testStack(stack);
