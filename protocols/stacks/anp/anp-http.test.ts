import { testStack } from '../testing/stack-contract.ts';
import { anpHttp } from './anp-http.ts';

testStack(anpHttp);
