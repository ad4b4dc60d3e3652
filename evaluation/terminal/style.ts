import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/**
 * Creates the colours of one stream. There are none if it is not a terminal, or if NO_COLOR is set (https://no-color.org);
 * FORCE_COLOR turns them on.
 */
export function createStyles(stream: NodeJS.WriteStream) {
  const style = (format: Format) => (text: string) => styleText(format, text, { stream });
  return {
    bold: style('bold'),
    dim: style('dim'),
    green: style('green'),
    red: style('red'),
    yellow: style('yellow'),
    cyan: style('cyan'),
  };
}

export type Styles = ReturnType<typeof createStyles>;
