import { bindingContract } from '../testing/binding-contract.ts';
import { jsonUnix } from './json-unix.ts';
import { meshBinding } from './mesh.ts';

for (const spec of ['json', 'msgpack+zstd', 'anp']) bindingContract(await meshBinding(spec));
bindingContract(jsonUnix);
