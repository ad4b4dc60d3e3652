const cleanUps: (() => void)[] = [];

/**
 * Registers what is done after every test file. A worker runs many files and loads a module once, so `afterAll` in a module that tests
 * share would run after the first of them only.
 */
export function afterEachFile(cleanUp: () => void): void {
  cleanUps.push(cleanUp);
}

/** Does what the modules registered that the worker has loaded so far. */
export function cleanUpAfterFile(): void {
  for (const cleanUp of cleanUps) cleanUp();
}
