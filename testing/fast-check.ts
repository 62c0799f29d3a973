import { randomInt } from 'node:crypto'
import fc from 'fast-check'

const drawsMany = process.env['REMORA_TEST_DRAWS'] === 'many'

/**
 * Tests draw their cases with this seed. `npm test` draws the same at each run, so that it fails only for what a change changed;
 * `npm run test:all` draws anew each time. REMORA_TEST_SEED sets the seed of both.
 */
export const testSeed = Number(process.env['REMORA_TEST_SEED'] ?? (drawsMany ? randomInt(2 ** 31) : 1))

/** Returns how many cases to draw: all of them in `npm run test:all`, a tenth and at least twenty in `npm test`. */
export function draws(cases: number): number {
  return drawsMany ? cases : Math.min(cases, Math.max(20, Math.ceil(cases / 10)))
}

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed, numRuns: draws(100) })

/** Draws any character but half of one, as `unit: 'binary'` does, whose tables take seconds to make. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_f7ff })
  .map((point) => String.fromCodePoint(point < 0xd800 ? point : point + 0x800))

export { fc }
