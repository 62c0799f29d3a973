import { randomInt } from 'node:crypto'
import fc from 'fast-check'

/**
 * What a test draws it draws with this seed: another one at each run, unless REMORA_TEST_SEED is set, as it is in CI. There a test
 * either fails always or never.
 */
export const testSeed = Number(process.env['REMORA_TEST_SEED'] ?? randomInt(2 ** 31))

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed })

export { fc }
