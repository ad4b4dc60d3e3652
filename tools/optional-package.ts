import { MeshError, messageOf, systemCodeOf } from '../core/contracts/errors.ts';

/**
 * Loads what stands on a large package that not everybody needs, and that `npm install gaia-mesh` therefore leaves to those who do.
 *
 * @param packages what to install, as npm takes it: `openai@7`
 * @param purpose who asks for it, as the user did: `--engine openai`
 * @throws MeshError `config` with what to type where it is not installed
 */
export async function withPackage<Loaded>(
  packages: string,
  purpose: string,
  load: () => Promise<Loaded>,
): Promise<Loaded> {
  try {
    return await load();
  } catch (cause) {
    const [name = packages] = packages.split(/(?<=.)@/);
    const isMissing = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(systemCodeOf(cause) ?? '');
    if (!isMissing || !messageOf(cause).includes(name)) throw cause;
    throw new MeshError(
      'config',
      `${purpose} needs the package ${name}, which is not installed: npm install ${packages}`,
      { cause },
    );
  }
}
