import { spawn } from 'node:child_process';
import { printError } from '../terminal/print.ts';

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
};

/** Asks the system to open an address in the browser; without a browser it prints a message. */
export function openInBrowser(url: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const opener = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  opener.on('error', (error) => printError(`cannot open a browser: ${error.message}`));
  opener.unref();
}
