import { describe, expect, it } from 'vitest';
import { SLAB_BYTES, SlabPool } from './slab.ts';

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

  it('has one object for a range that is asked for again, and the right bytes for another', () => {
    const slab = new SlabPool().take();
    slab.bytes.set([0, 1, 2, 3]);
    const first = slab.view(1, 3);
    expect(slab.view(1, 3)).toBe(first);
    expect([...slab.view(1, 4)]).toEqual([1, 2, 3]);
    expect([...slab.view(0, 2)]).toEqual([0, 1]);
    expect([...slab.view(1, 3)]).toEqual([1, 2]);
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

  it('counts what is free now: one that was taken and returned often stays', () => {
    const pool = new SlabPool(2 * SLAB_BYTES);
    const slab = pool.take();
    for (let times = 0; times < 5; times++) {
      slab.release();
      expect(pool.take()).toBe(slab);
    }
  });

  it('keeps one as large as its bound in place of smaller ones', () => {
    const pool = new SlabPool(2 * SLAB_BYTES);
    const [small, large] = [pool.take(), pool.take(2 * SLAB_BYTES)];
    small.release();
    large.release();
    expect(pool.take(2 * SLAB_BYTES)).toBe(large);
  });
});
