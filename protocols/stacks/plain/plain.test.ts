import { testStack } from '../testing/stack-contract.ts';
import { jsonGrpc } from './grpc/json-grpc.ts';
import { jsonHttp1 } from './http/json-http1.ts';
import { jsonHttp2 } from './http/json-http2.ts';
import { jsonUnix } from './json-unix.ts';
import { makeMeshStack } from './mesh.ts';
import { jsonWebSocket } from './websocket/json-websocket.ts';

for (const spec of ['json', 'msgpack+zstd', 'anp']) testStack(await makeMeshStack(spec));
for (const stack of [jsonUnix, jsonHttp1, jsonHttp2]) testStack(stack);
for (const stack of [jsonWebSocket, jsonGrpc]) testStack(stack);
