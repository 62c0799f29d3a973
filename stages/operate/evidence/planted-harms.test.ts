import { describe, expect, it } from 'vitest'
import { changeChecks, type TextCheck } from '#domain/checks.ts'
import { defaultPathRules } from '#domain/path-rules.ts'
import { plantedHarms, type PlantedHarm } from './planted-harms.fixture.ts'
import { plantedComments, plantedDocs } from './planted-comments.fixture.ts'
import { plantedLosses } from './planted-losses.fixture.ts'
import { plantedScriptHarms } from './javascript/planted-script-harms.fixture.ts'
import { testEvidence } from './test-evidence.fixture.ts'

const { checker } = await testEvidence()

async function refusalsOf(
  { path = 'a.py', before, after, rules = defaultPathRules }: PlantedHarm,
  checks: readonly TextCheck[],
) {
  const evidence = await checker.check({ path, before, after, rules }, checks)
  return evidence.filter((one) => !one.ok).map(({ check, detail }) => `${check}: ${detail}`)
}

const harms = [...plantedHarms, ...plantedLosses, ...plantedComments, ...plantedScriptHarms]

describe('a harm that one check is there for', () => {
  it('is planted for every check that any change has to pass', () => {
    expect(new Set(harms.map(({ check }) => check))).toEqual(new Set(changeChecks))
  })

  it.each(harms)('is refused by $check, and gets through without it: $harm', async (harm) => {
    const others = changeChecks.filter((check) => check !== harm.check)
    expect(await refusalsOf(harm, others)).toEqual([])
    const refusals = await refusalsOf(harm, changeChecks)
    expect(refusals).toHaveLength(1)
    expect(refusals[0]).toMatch(new RegExp(`^${harm.check}: `))
    expect(refusals[0]).toContain(harm.says)
  })
})

describe('a harm that a bundle of docstrings asks about', () => {
  it.each(plantedDocs)('is refused by $check: $harm', async (harm) => {
    const asked = (['docstring_only', 'parameters_documented'] as const).filter((check) => check !== harm.check)
    expect(await refusalsOf(harm, asked)).toEqual([])
    const refusals = await refusalsOf(harm, [harm.check])
    expect(refusals).toHaveLength(1)
    expect(refusals[0]).toContain(harm.says)
  })

  it.each([
    ['a.ts', signatureOf('a: string, b = 1'), '@param a - one\n@param b - two'],
    [
      'a.js',
      'function f({ a }, [b], ...c) {}\n',
      '@param options - one\n@param options.a - of it\n@param pair - two\n@param c - rest',
    ],
  ])('is none in a comment that agrees with the signature, in %s', async (path, before, text) => {
    const after = `/**\n * ${text.replaceAll('\n', '\n * ')}\n */\n${before}`
    const checks = [...changeChecks, 'docstring_only', 'parameters_documented'] as const
    expect(await refusalsOf({ check: 'parses', harm: '', says: '', path, before, after }, checks)).toEqual([])
  })
})

function signatureOf(parameters: string): string {
  return `export function f(${parameters}): void {}\n`
}
