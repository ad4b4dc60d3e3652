import { InvalidArgumentError } from 'commander';

/** A sum of money as an option's value. */
export function dollars(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && Number.isFinite(value)))
    throw new InvalidArgumentError('expected US dollars, above 0.');
  return value;
}
