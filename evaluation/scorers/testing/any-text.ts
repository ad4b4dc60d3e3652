import fc from 'fast-check';

/** Any string that JavaScript can hold, NULs and lone surrogates included, half of its characters ASCII. */
export const anyText = fc.string({
  unit: fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xffff })).map((code) => String.fromCharCode(code)),
});
