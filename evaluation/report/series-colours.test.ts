import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

type Colour = readonly [red: number, green: number, blue: number];

/** Colours of the page, in linear light, by theme. */
const css = readFileSync(new URL('../viewer/viewer.css', import.meta.url), 'utf8');
const readColour = (name: string, theme: 'light' | 'dark'): Colour => {
  const [, light = '', dark = ''] =
    new RegExp(`--${name}: light-dark\\(#(\\w{6}), #(\\w{6})\\)`).exec(css) ?? [];
  const toLinear = (at: number) => {
    const share = Number.parseInt((theme === 'light' ? light : dark).slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return [toLinear(0), toLinear(2), toLinear(4)];
};

const multiply = (rows: readonly Colour[], [red, green, blue]: Colour): Colour => {
  const [x = 0, y = 0, z = 0] = rows.map((row) => row[0] * red + row[1] * green + row[2] * blue);
  return [x, y, z];
};

/** The contrast of two colours by WCAG 2. */
function computeContrast(one: Colour, other: Colour): number {
  const [low = 0, high = 0] = [one, other]
    .map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
    .sort((a, b) => a - b);
  return high / low;
}

/** Colours as readers of each kind see them: G. Machado and others (2009), in full strength. */
const READERS: Readonly<Record<string, readonly Colour[]>> = {
  'all colours': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'no red': [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  'no green': [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

/** Places a colour in OKLab, where equal distances look equally large. */
function toOklab(colour: Colour): Colour {
  const cones: readonly Colour[] = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
  ];
  const [long, middle, short] = multiply(cones, colour);
  return multiply(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    [Math.cbrt(long), Math.cbrt(middle), Math.cbrt(short)],
  );
}

describe.each(['light', 'dark'] as const)('the series colours, %s', (theme) => {
  const series = ['s1', 's2', 's3', 's4'].map((name) => readColour(name, theme));

  test('have a contrast of 3:1 to the card', () => {
    for (const colour of series)
      expect(computeContrast(colour, readColour('card', theme))).toBeGreaterThan(3);
  });

  test.each(Object.keys(READERS))('are told apart by readers who see %s', (reader) => {
    const seen = series.map((colour) => {
      const [red, green, blue] = multiply(READERS[reader] ?? [], colour);
      const clamp = (value: number) => Math.min(1, Math.max(0, value));
      return toOklab([clamp(red), clamp(green), clamp(blue)]);
    });
    const distances = seen.flatMap((one, index) =>
      seen.slice(index + 1).map((other) => Math.hypot(...one.map((value, at) => value - (other[at] ?? 0)))),
    );

    // 0.02 is the least difference that people see side by side; areas and lines apart from each other need more.
    expect(Math.min(...distances)).toBeGreaterThan(0.15);
  });
});
