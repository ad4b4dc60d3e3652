const COLOURS: readonly (readonly [name: string, rgb: number])[] = [
  ['black', 0x000000],
  ['white', 0xffffff],
  ['grey', 0x808080],
  ['light grey', 0xd3d3d3],
  ['red', 0xff0000],
  ['dark red', 0x8b0000],
  ['pink', 0xffc0cb],
  ['orange', 0xffa500],
  ['light orange', 0xfbd5b5],
  ['yellow', 0xffff00],
  ['light yellow', 0xffffcc],
  ['brown', 0x8b4513],
  ['green', 0x00ff00],
  ['dark green', 0x006400],
  ['green', 0x008000],
  ['green', 0x00b050],
  ['light green', 0x90ee90],
  ['light green', 0xc6efce],
  ['cyan', 0x00ffff],
  ['teal', 0x008080],
  ['blue', 0x0000ff],
  ['blue', 0x4472c4],
  ['dark blue', 0x00008b],
  ['light blue', 0xadd8e6],
  ['blue', 0x00b0f0],
  ['purple', 0x800080],
  ['purple', 0x7030a0],
  ['light purple', 0xccc0da],
  ['magenta', 0xff00ff],
];

/** The name of the nearest colour, for those who ask for green cells; undefined where `rgb` is not six hexadecimal digits. */
export function colourName(rgb: string): string | undefined {
  if (!/^[0-9A-F]{6}$/i.test(rgb)) return undefined;
  const value = Number.parseInt(rgb, 16);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [name, other] of COLOURS) {
    const distance =
      squared(value >> 16, other >> 16) +
      squared((value >> 8) & 255, (other >> 8) & 255) +
      squared(value & 255, other & 255);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

const squared = (a: number, b: number) => (a - b) ** 2;
