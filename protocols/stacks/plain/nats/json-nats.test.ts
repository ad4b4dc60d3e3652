import { needNatsServer } from '../../../../core/transports/nats/testing/real-server.ts';
import { testStack } from '../../testing/stack-contract.ts';
import { jsonNats } from './json-nats.ts';

needNatsServer();
testStack(jsonNats);
