/** The public names of the protocols: adapters by name, and the checks that each must pass. */
export { listContractChecks } from './contract/suite.ts';
export { loadAdapter } from './registry.ts';
