import { describe, expect, it } from 'vitest'
import { BundleFile } from '#domain/agent-bundle.ts'
import { joinedPrograms, type ProgramReport } from '#domain/program-report.ts'
import { aBundle } from './planning.fixture.ts'
import { gateNotice, programLack, type ProgramFacts } from './lacking-programs.ts'

const bundle = aBundle('test', ['function'])
const testing = BundleFile.parse({ ...bundle.bundle.file, when: 'untested', languages: ['python', 'javascript', 'go'] })
const everything = { names: ['python3', 'node', 'gofmt'] }
const python = { path: 'a.py', language: 'python' }
const script = { path: 'lib/a.js', language: 'javascript' }

const lack = (node: { path: string; language: string }, facts: ProgramFacts, over: Partial<BundleFile> = {}) =>
  programLack({ ...testing, ...over }, node, facts)

describe('what no worker can run is known before a model is asked', () => {
  it('is the tests of a runner that nobody here knows, whatever the workers have', () => {
    const runnerOf = () => ({ kind: 'other', path: 'package.json', name: 'mocha' }) as const
    const reason = 'its tests run with mocha, which Remora cannot run'
    expect(lack(script, { runnerOf })).toBe(reason)
    expect(lack(script, { runnerOf, programs: everything })).toBe(reason)
  })

  it('is everything that runs programs where there is no sandbox, and nothing else', () => {
    const programs: ProgramReport = { names: [], lack: 'bubblewrap is not installed' }
    const reason = 'no worker can run programs: bubblewrap is not installed'
    expect(lack(python, { programs })).toBe(reason)
    expect(lack(python, { programs }, { when: 'always', programs: ['npm'] })).toBe(reason)
    expect(lack(python, { programs }, { when: 'no_samples', programs: [] })).toBeUndefined()
    expect(lack(python, { programs }, { when: 'always' })).toBeUndefined()
  })

  it('is what a program is missing for, unless the run has a setup that may install it', () => {
    const programs = { names: ['go'] }
    const environment = { kind: 'wanted', command: 'uv sync' } as const
    expect(lack(python, { programs })).toBe('its tests need python3, which the sandbox of no worker has')
    expect(lack(python, { programs, environment })).toBeUndefined()
    const node = { programs, runnerOf: () => ({ kind: 'node' }) as const }
    expect(lack(script, node)).toBe('its tests need node, which the sandbox of no worker has')
  })

  it('is vitest without a setup, where the snapshot does not bring it either', () => {
    const runnerOf = () => ({ kind: 'vitest', path: 'web/package.json' }) as const
    const facts = { runnerOf, programs: everything }
    expect(lack(script, facts)).toContain('its tests run with vitest, which only a setup can install')
    const has = (path: string) => path === 'web/node_modules/vitest/package.json'
    expect(lack(script, { ...facts, has })).toBeUndefined()
    expect(lack(script, { ...facts, environment: { kind: 'wanted', command: 'npm ci' } })).toBeUndefined()
  })

  it('is nothing while a worker does not say what it has, or one of them has it', () => {
    expect(joinedPrograms([])).toBeUndefined()
    expect(joinedPrograms([{ names: [], lack: 'none' }, undefined])).toBeUndefined()
    expect(joinedPrograms([{ names: [], lack: 'none' }, everything])).toEqual(everything)
    expect(joinedPrograms([{ names: [], lack: 'none' }])).toEqual({ names: [], lack: 'none' })
    expect(lack(python, {})).toBeUndefined()
  })
})

describe('a gate that cannot start', () => {
  it('is told of before the run starts, with what to do about it', () => {
    const programs = everything
    expect(gateNotice({ command: 'CI=1 go test ./...' }, { programs })).toContain('the sandbox of no worker has go; ')
    expect(gateNotice({ command: 'cd sub && cargo test' }, { programs })).toContain('has cargo; ')
    expect(gateNotice({ command: 'make test' }, { programs: { names: [], lack: 'no bubblewrap' } })).toContain(
      'no worker can run programs (no bubblewrap)',
    )
    expect(gateNotice({ command: 'python3 -m pytest' }, { programs })).toBeUndefined()
    expect(gateNotice({ command: './run-tests' }, { programs })).toBeUndefined()
    expect(gateNotice({ command: 'go test' }, { programs: undefined })).toBeUndefined()
  })
})
