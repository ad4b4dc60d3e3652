import { describe, expect, it } from 'vitest';
import { Arena } from './arena.ts';
import { SLAB_BYTES, SlabPool, SMALL_SLAB_BYTES } from './slab.ts';

describe('a pool of slabs', () => {
  it('hands a slab out again when the last who holds it has let it go', () => {
    const pool = new SlabPool();
    const slab = pool.take();
    slab.hold();
    expect(slab.isUnshared).toBe(false);
    slab.release();
    expect(slab.isUnshared).toBe(true);
    expect(pool.take()).not.toBe(slab);
    slab.release();
    expect(pool.take()).toBe(slab);
    expect(slab.isUnshared).toBe(true);
  });

  it('has slabs of multiples of one size, each for its own', () => {
    const pool = new SlabPool();
    const large = pool.take(SLAB_BYTES + 1);
    expect(large.bytes.length).toBe(2 * SLAB_BYTES);
    expect(pool.take(5 * SLAB_BYTES).bytes.length).toBe(5 * SLAB_BYTES);
    large.release();
    expect(pool.take().bytes.length).toBe(SLAB_BYTES);
    expect(pool.take(2 * SLAB_BYTES)).toBe(large);
  });

  it('keeps no more than its bound, and has the system take back what is beyond it', () => {
    const pool = new SlabPool(2 * SLAB_BYTES);
    const taken = [pool.take(), pool.take(), pool.take()];
    for (const slab of taken) slab.release();
    const again = [pool.take(), pool.take(), pool.take()];
    expect(again.filter((slab) => taken.includes(slab))).toHaveLength(2);
    expect(taken.map((slab) => slab.bytes.length).sort()).toEqual([0, SLAB_BYTES, SLAB_BYTES]);
  });

  it('drops what nobody has wanted for longest, and keeps what is in use when one comes that is too large', () => {
    const pool = new SlabPool(4 * SLAB_BYTES);
    const old = pool.take(3 * SLAB_BYTES);
    old.release();
    const used = [pool.take(), pool.take()];
    for (const slab of used) slab.release();
    expect(old.bytes.length).toBe(0);
    pool.take(9 * SLAB_BYTES).release();
    expect(used).toContain(pool.take());
    expect(used).toContain(pool.take());
  });

  it('keeps its usual slabs in the arena for ever, and those beside it up to the bound', () => {
    const arena = new Arena();
    const pool = new SlabPool(SLAB_BYTES, arena);
    const taken = Array.from({ length: 50 }, () => pool.take());
    const inside = taken.filter(({ bytes }) => arena.has(bytes));
    const outside = taken.filter(({ bytes }) => !arena.has(bytes));
    expect(inside.length).toBeGreaterThan(30);
    expect(outside.length).toBeGreaterThan(5);
    for (const slab of taken) slab.release();
    expect(inside.every(({ bytes }) => bytes.length === SLAB_BYTES)).toBe(true);
    expect(outside.filter(({ bytes }) => bytes.length > 0)).toHaveLength(1);
    const again = new Set(Array.from({ length: inside.length + 1 }, () => pool.take()));
    expect(inside.every((slab) => again.has(slab))).toBe(true);
    expect(arena.has(pool.take(SLAB_BYTES + 1).bytes)).toBe(false);
  });

  it('has no two slabs at one place of the arena', () => {
    const arena = new Arena();
    const pool = new SlabPool(0, arena);
    const sizes = [SLAB_BYTES, SMALL_SLAB_BYTES, SMALL_SLAB_BYTES, SLAB_BYTES];
    const places = sizes
      .map((bytes) => pool.take(bytes).bytes)
      .map(({ byteOffset, length }) => [byteOffset, byteOffset + length]);
    for (const [i, [start = 0]] of places.entries())
      expect(start).toBeGreaterThanOrEqual(places[i - 1]?.[1] ?? 8192);
  });
});
