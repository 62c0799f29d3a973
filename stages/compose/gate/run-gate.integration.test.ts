import { mkdtemp, rm } from 'node:fs/promises'
import { createWriteStream, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import { GateRequest } from '#domain/gate.ts'
import { changeSetId, operationId, sha256 } from '#domain/ids.ts'
import { RepoPath } from '#domain/repo-path.ts'
import { plainTar } from '#platform/gzipped-tar.ts'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import { testSandbox, usualLimits } from '#sandbox/sandbox.fixture.ts'
import { type GateDeps, runGate } from './run-gate.ts'

const { sandbox, lack } = await testSandbox(process.env)
const never = new AbortController().signal
const double = 'def double(x):\n    return x * 2\n'
const texts: Record<string, string> = {
  'double.py': double,
  'test_double.py':
    'import unittest\nfrom double import double\n\nclass T(unittest.TestCase):\n    def test_two(self): self.assertEqual(double(2), 4)\n    def test_bad(self): self.fail()\n',
  'double.js': 'export const double = (x) => x * 2\n',
  'double.test.js':
    "import { test } from 'node:test'\nimport { equal } from 'node:assert/strict'\nimport { double } from './double.js'\ntest('two', () => equal(double(2), 4))\ntest('bad', () => equal(1, 2))\n",
  'package.json': '{"type":"module"}\n',
}

function edit(path: string, from: string, to: string): ChangeSet {
  const text = texts[path] ?? ''
  const start = text.indexOf(from)
  const files: FileChange[] = [
    {
      kind: 'edit',
      path: RepoPath.parse(path),
      baseHash: sha256(text),
      edits: [{ start, end: start + from.length, text: to }],
    },
  ]
  const operation = operationId(`n${path}${from}${to}`, 'probe', 'agent')
  return {
    changeSetId: changeSetId(operation, files),
    operationId: operation,
    bundle: 'probe',
    nodeId: 'n1',
    files,
    evidence: [],
  }
}

describe.skipIf(lack !== undefined)(`the gate of a run${lack === undefined ? '' : ` (${lack})`}`, () => {
  let dir = ''
  let deps: GateDeps
  const runs: number[] = []
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'remora-gate-'))
    const items = Object.entries(texts).map(([path, text]) => ({ path, content: Buffer.from(text), executable: false }))
    await pipeline(Readable.from(plainTar(items)), createWriteStream(join(dir, 'base.tar')))
    deps = {
      sandbox,
      limits: usualLimits,
      archive: async () => openSync(join(dir, 'base.tar'), 'r'),
      surroundings: async () => ({}),
      isExecutable: () => false,
      readBlob: async (hash) => Buffer.from(Object.values(texts).find((text) => sha256(text) === hash) ?? ''),
      memory: { results: new Map() },
      onRun: async (count) => void runs.push(count),
    }
  })
  afterAll(() => rm(dir, { recursive: true }))

  const judge = (command: string, sets: readonly ChangeSet[], more: Partial<GateRequest> = {}) =>
    runGate({ ...GateRequest.parse({ command }), ...more }, sets, { ...deps, memory: { results: new Map() } }, never)

  it.each([
    ['python3 -m unittest', 'double.py', 'test_double.T.test_bad'],
    ['cd . && A=1 python3 -m unittest -v test_double', 'double.py', 'test_double.T.test_bad'],
    ['node --test', 'double.js', "--test-name-pattern='^bad$' double.test.js"],
  ])('of %s judges each test for itself', async (command, path, failing) => {
    const sets = [edit(path, 'x * 2', '2 * x'), edit(path, 'double', 'twice')]
    const { left, leftOut, report } = await judge(command, sets)
    expect(left).toEqual(sets.slice(0, 1))
    expect(leftOut).toMatchObject([{ changeSetId: sets[1]?.changeSetId, errorCode: 'WORK_007', path, byItself: true }])
    expect(report).toMatchObject({ verdict: 'passed', failing: [failing], leftOut: 1 })
    expect(report.tests).toBeGreaterThanOrEqual(1)
  })

  it('of any other command goes by its exit code', async () => {
    const sets = [edit('double.py', 'x * 2', 'x / 0')]
    const { leftOut, report } = await judge('python3 -c "import double; double.double(1)"', sets)
    expect(leftOut.map(({ reason }) => reason).join()).toContain('(ZeroDivisionError: division by zero (exit code 1))')
    expect(report).toMatchObject({ tests: null, verdict: 'passed', leftOut: 1 })
  })

  it.each<[string, RegExp, number?]>([
    ['no-such-program --flag', /^sh: .*no-such-program: not found: it does not start with what the sandbox has/],
    ['echo no venv; exit 3', /^no venv \(exit code 3\): nothing that it tests passes/],
    ['echo fatal: no compiler; echo; echo FAIL; exit 1', /^fatal: no compiler \(exit code 1\)/],
    ['sleep 3600', /its time was over/, 1],
    ['cd /tmp && node --test', /finds no tests/],
  ])('cannot judge with "%s", and leaves out nothing', async (command, reason, limitS = 60) => {
    const sets = [edit('double.py', 'x * 2', '2 * x')]
    const { left, leftOut, report } = await judge(command, sets, { limitS })
    expect([left, leftOut]).toEqual([sets, []])
    expect(report).toMatchObject({ verdict: 'unproved', reason: expect.stringMatching(reason) })
  })

  it('keeps the end of what every run wrote, and with how many changes it was', async () => {
    const sets = [edit('double.py', 'x * 2', 'x / 0')]
    const command = 'seq 1000; python3 -c "import double; double.double(1)"'
    const { report } = await judge(command, sets)
    const { outputs } = report
    expect(outputs).toHaveLength(report.runs)
    expect(outputs.slice(0, 3)).toEqual([
      { changeSets: 0, ending: 'exit code 0', output: expect.stringMatching(/999\n1000$/) },
      { changeSets: 0, ending: 'exit code 0', output: expect.stringMatching(/999\n1000$/) },
      { changeSets: 1, ending: 'exit code 1', output: expect.stringMatching(/ZeroDivisionError: division by zero$/) },
    ])
    expect(outputs.every(({ output }) => output.length <= 1_000)).toBe(true)
  })

  it('cannot judge when the original passes nothing any more', async () => {
    const sets = [edit('double.py', 'x * 2', '2 * x')]
    const mustPass = new Set(['the command'])
    const original = { mustPass, failing: [], namesTests: false, longestMs: 1_000, fault: undefined }
    const before = { ...deps, memory: { original, results: new Map<string, never>() } }
    const { left, report } = await runGate(GateRequest.parse({ command: 'exit 3' }), sets, before, never)
    expect(left).toEqual(sets)
    expect(report).toMatchObject({ verdict: 'unproved', failing: ['the command'], leftOut: 0 })
  })

  it('cannot judge where there is no sandbox', async () => {
    const none = { ...deps, sandbox: openSandbox({ searchPath: '' }) }
    const { report } = await runGate(GateRequest.parse({ command: 'true' }), [edit('double.py', 'x', 'y')], none, never)
    expect(report).toMatchObject({
      verdict: 'unproved',
      reason: 'TOOL_005 bubblewrap is not installed, on the original',
    })
  })

  it('counts a change with which the tests never end as one that fails', async () => {
    const sets = [edit('double.py', 'return x * 2', '__import__("time").sleep(3600)')]
    const given: number[] = []
    // A run with the change uses all of the time that it has.
    const run: GateDeps['sandbox']['run'] = ({ limits, ...program }, signal) => {
      if (program.files.changed?.length === 0) return sandbox.run({ ...program, limits }, signal)
      given.push(limits.wallMs)
      return sandbox.run({ ...program, limits: { ...limits, wallMs: 500 } }, signal)
    }
    const hurried = { ...deps, sandbox: { run }, memory: { results: new Map<string, never>() } }
    const { leftOut } = await runGate(GateRequest.parse({ command: 'python3 -m unittest' }), sets, hurried, never)
    expect(leftOut.map(({ errorCode }) => errorCode)).toEqual(['WORK_007'])
    expect(Math.min(...given)).toBeGreaterThanOrEqual(10_000)
  }, 60_000)
})
