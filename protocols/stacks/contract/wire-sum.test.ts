import { expect, test } from 'vitest';
import type { DirectionBytes, WireBytes } from './wire-sum.ts';
import { compareEnds } from './wire-sum.ts';

const direction = (head: number, tls = 0, body = 10): DirectionBytes => {
  return { raw: tls + head + body, tls, head, body, messages: 1 };
};
const side = (sent: DirectionBytes, received: DirectionBytes, closed = 0): WireBytes => {
  return { connections: 2, closed, sent, received };
};
const same = direction(4, 100);

test.each([
  ['both ends agree', side(same, same), side(same, same), undefined],
  ['the client closed before an alert came', side(same, same, 1), side(direction(4, 124), same), undefined],
  ['the server closed before GOAWAY came', side(direction(38, 100), same), side(same, same, 1), undefined],
  ['nothing was closed', side(same, same), side(direction(4, 124), same), 'server to client: raw is 138'],
  [
    'more is missing than an end says in parting',
    side(same, same, 1),
    side(direction(4, 400), same),
    'raw is 414',
  ],
  [
    'a message is missing',
    side(same, same, 9),
    side(direction(3, 100, 11), same),
    'server to client: body is 11',
  ],
  ['more came than was sent', side(same, direction(5, 100), 9), side(same, same), 'raw is 114 at one end'],
])('%s', (_what, client, server, why) => {
  const found = compareEnds(client, server);
  if (why === undefined) expect(found.why).toBeUndefined();
  else expect(found.why).toContain(why);
  expect(found.wire).toMatchObject({ sent: client.sent, received: server.sent });
});
