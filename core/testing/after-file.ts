const cleanUps: (() => void)[] = [];

/**
 * Registers a function that runs after every test file. A worker runs many files and loads a module once, so `afterAll` in a
 * module that tests share would run only after the first file.
 */
export function afterEachFile(cleanUp: () => void): void {
  cleanUps.push(cleanUp);
}

/** Runs the registered functions of all modules that the worker has loaded so far. */
export function cleanUpAfterFile(): void {
  for (const cleanUp of cleanUps) cleanUp();
}
