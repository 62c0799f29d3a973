import { describe, expect, it } from 'vitest'
import { BundleFile } from '#domain/agent-bundle.ts'
import { adjustBundles, type BundleChoices, resolveSettings } from './adjust-bundles.ts'

const file = BundleFile.parse({
  name: 'probe',
  description: 'Probes.',
  node_kinds: ['function'],
  languages: ['python'],
  initial_context: { system_prompt: 'a', node_context: 'b' },
  settings: { style: { enum: ['google', 'numpy'], default: 'google' }, depth: { default: 2 } },
  tools: [{ builtin: 'submit_result' }],
  limits: { max_turns: 12, timeout_s: 60 },
})
const loadedAs = (own: BundleFile) => {
  const bundle = { file: own, tools: [], scripts: {}, hostInputs: {}, warnings: [] }
  return new Map([['probe', { dir: 'agents/probe', bundle, warnings: [] }]])
}
const loaded = loadedAs(file)
const none: BundleChoices = { mapping: {}, settings: {}, maxTurns: undefined, maxTimeoutS: undefined }
const adjusted = (choices: Partial<BundleChoices>) =>
  adjustBundles(loaded, { ...none, ...choices }).get('probe')?.bundle.file

describe('adjustBundles', () => {
  it('leaves bundles as they are when nothing was chosen', () => {
    expect(adjustBundles(loaded, none)).toEqual(loaded)
  })

  it('gives a bundle its kinds, its priority, its settings and the lower of two limits', () => {
    const choices = {
      mapping: { probe: { node_kinds: ['class'], priority: 1 } },
      settings: { probe: { style: 'numpy' } },
    }
    expect(adjusted({ ...choices, maxTurns: 3, maxTimeoutS: 90 })).toMatchObject({
      node_kinds: ['class'],
      priority: 1,
      settings: { style: { default: 'numpy' } },
      limits: { max_turns: 3, timeout_s: 60 },
    })
  })

  it('gives a bundle one turn where it says what code does around it', () => {
    const able = loadedAs({ ...file, one_turn: { gather: [], carry_out: 'write', answer: {} } })
    const choices: BundleChoices = { ...none, mapping: { probe: { turns: 'one' } } }
    expect(adjustBundles(able, choices).get('probe')?.bundle.file.turns).toBe('one')
    const message = 'agents.mapping.probe.turns: one needs one_turn in its bundle.yaml'
    expect(() => adjusted(choices)).toThrow(expect.objectContaining({ code: 'CONFIG_003', message }))
  })

  it('refuses a bundle that is not there', () => {
    const unknown = expect.objectContaining({ code: 'CONFIG_004', message: expect.stringContaining('linter') })
    expect(() => adjusted({ mapping: { linter: { priority: 1 } } })).toThrow(unknown)
  })

  it('refuses to map a bundle to a node kind that no query pack finds', () => {
    const choices = { ...none, mapping: { probe: { node_kinds: ['class', 'metod'] } } }
    const message = 'agents.mapping.probe.node_kinds.1: no query pack finds nodes of kind metod; did you mean method?'
    expect(() => adjustBundles(loaded, choices, { nodeKinds: new Set(['class', 'method']) })).toThrow(
      expect.objectContaining({ code: 'CONFIG_003', message }),
    )
  })
})

describe('resolveSettings', () => {
  it('fills in the defaults', () => {
    expect(resolveSettings({ file }, {})).toEqual({ style: 'google', depth: 2 })
    expect(resolveSettings({ file }, { style: 'numpy', depth: 5 })).toEqual({ style: 'numpy', depth: 5 })
  })

  it.each([
    [{ style: 'own' }, 'CONFIG_003', 'agents.settings.probe.style: must be one of ["google", "numpy"], got: "own"'],
    [{ depth: '2' }, 'CONFIG_003', 'agents.settings.probe.depth: must be a number, got: "2"'],
    [{ depht: 1 }, 'CONFIG_004', 'agents.settings.probe.depht: there is no such setting: did you mean depth?'],
  ])('refuses %o', (given, code, message) => {
    expect(() => resolveSettings({ file }, given)).toThrow(expect.objectContaining({ code, message }))
  })
})
