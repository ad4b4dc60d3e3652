import { bindingContract } from '../testing/binding-contract.ts';
import { anpHttp } from './anp-http.ts';

bindingContract(anpHttp);
