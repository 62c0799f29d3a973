import { describe, expect, it } from 'vitest'
import { BundleFile } from '#domain/agent-bundle.ts'
import { resolveSettings } from './resolve-settings.ts'

const file = BundleFile.parse({
  name: 'probe',
  description: 'Probes.',
  node_kinds: ['function'],
  languages: ['python'],
  initial_context: { system_prompt: 'a', node_context: 'b' },
  settings: { style: { enum: ['google', 'numpy'], default: 'google' }, depth: { default: 2 } },
  tools: [{ builtin: 'submit_result' }],
})

describe('resolveSettings', () => {
  it('fills in the defaults', () => {
    expect(resolveSettings({ file }, {})).toEqual({ style: 'google', depth: 2 })
    expect(resolveSettings({ file }, { style: 'numpy', depth: 5 })).toEqual({ style: 'numpy', depth: 5 })
  })

  it.each([
    [
      { style: 'sphinx' },
      'CONFIG_003',
      'agents.settings.probe.style must be one of ["google", "numpy"], got: "sphinx"',
    ],
    [{ depth: '2' }, 'CONFIG_003', 'agents.settings.probe.depth must be a number, got: "2"'],
    [{ tone: 1 }, 'CONFIG_004', 'agents.settings.probe: no setting "tone"; known: style, depth'],
  ])('refuses %o', (given, code, message) => {
    expect(() => resolveSettings({ file }, given)).toThrow(expect.objectContaining({ code, message }))
  })
})
