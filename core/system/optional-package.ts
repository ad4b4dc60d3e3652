import { MeshError, readSystemCode, toErrorMessage } from '../contracts/errors.ts';

/**
 * Loads code that needs optional packages, which `npm install gaia-mesh` leaves to the users who need them.
 *
 * @param packages packages to install in npm's form: `ws@8`, several separated by spaces
 * @param purpose the user's request that needs them: `--stacks json/websocket`
 * @throws MeshError `config` with the command to type if a package is not installed
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
