import fc from 'fast-check'

// The cases of properties are drawn anew at each run, unless this seed is set, as it is in CI: there a run either fails always or never.
const seed = process.env['REMORA_TEST_SEED']
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })

export { fc }
