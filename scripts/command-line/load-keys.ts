import { existsSync } from 'node:fs';
import { userPath } from '../../core/system/user-paths.ts';

/** Keys from `.env` in the user's folder; what is in the environment already wins (RA-50). */
export function loadKeys(): void {
  const file = userPath('.env');
  if (existsSync(file)) process.loadEnvFile(file);
}
