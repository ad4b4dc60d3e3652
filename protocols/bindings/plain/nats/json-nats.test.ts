import { needNatsServer } from '../../../../core/transports/nats/testing/real-server.ts';
import { bindingContract } from '../../testing/binding-contract.ts';
import { jsonNats } from './json-nats.ts';

needNatsServer();
bindingContract(jsonNats);
