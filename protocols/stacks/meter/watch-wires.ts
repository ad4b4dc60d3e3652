import { watchFetch } from './node-fetch.ts';
import { watchHttp } from './node-http.ts';
import { watchHttp2 } from './node-http2.ts';
import { watchSockets } from './node-sockets.ts';

let isWatching = false;

/** Has Node tell the meters of this process what they count; once is enough, and it costs nothing where no meter asks. */
export function watchWires(): void {
  if (isWatching) return;
  isWatching = true;
  watchSockets();
  watchHttp();
  watchHttp2();
  watchFetch();
}
