import { MeshError, readSystemCode, toErrorMessage } from '../contracts/errors.ts';

/**
 * Loads what stands on packages that not everybody needs, and that `npm install gaia-mesh` therefore leaves to those who do.
 *
 * @param packages what to install, as npm takes it: `openai@7`, several with a space between them
 * @param purpose who asks for it, as the user did: `--engine openai`
 * @throws MeshError `config` with what to type where one is not installed
 */
export async function withPackage<Loaded>(
  packages: string,
  purpose: string,
  load: () => Promise<Loaded>,
): Promise<Loaded> {
  try {
    return await load();
  } catch (cause) {
    const isMissing = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(readSystemCode(cause) ?? '');
    const names = packages.split(' ').map((spec) => spec.split(/(?<=.)@/)[0] ?? spec);
    const name = names.find((each) => toErrorMessage(cause).includes(`'${each}'`));
    if (!isMissing || name === undefined) throw cause;
    throw new MeshError(
      'config',
      `${purpose} needs the package ${name}, which is not installed: npm install ${packages}`,
      { cause },
    );
  }
}
