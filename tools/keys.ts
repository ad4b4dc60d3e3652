import { serverKeys } from './engines/registry.ts';
import { SERVICES } from './web/services.ts';

const services = Object.values(SERVICES);

/** The variables that hold keys of model servers and of services. */
export const keyVariables: readonly string[] = [
  ...new Set([...serverKeys.map(({ variable }) => variable), ...services.flatMap(({ keys = [] }) => keys)]),
];

/** The shapes of those keys, for removing one wherever it stands. */
export const keyShapes: readonly RegExp[] = [
  ...serverKeys.map(({ shape }) => shape),
  ...services.flatMap(({ keyShape = [] }) => keyShape),
];
