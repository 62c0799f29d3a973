import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { atWork, processesNaming, stillRunning } from '../living-processes.ts'
import { lastDocument, openPrograms, remora } from '../program.ts'
import { inMidRun, wayOn, written } from './stopped-run.ts'
import { exampleCopy, manyFunctions, sourceFolder, type SourceFolder } from '../source-folder.ts'

const untestable = lacks('git', 'python3')

const programs = openPrograms()
afterEach(() => programs.end())

const threeModules = 'src/inventory/{__init__,cli,units}.py'
describe('remora run on a folder', () => {
  let folder: SourceFolder
  beforeAll(async () => {
    folder = await exampleCopy()
  })
  afterAll(() => folder.remove())

  it('completes, prints that no model was asked, logs to its file, and leaves no process', async () => {
    const args = ['run', '.', '--agents', 'lint,docstring', '--paths', threeModules, '--out', 'proposed.patch']
    const run = remora(programs, folder, args)
    const started = await atWork(run)
    expect(await run.exited, run.err()).toBe(0)
    expect(run.out()).toContain('completed')
    expect(run.out()).toContain('rehearsal model (no LLM)')
    expect(run.err()).not.toContain('run ended')
    expect(await folder.read('.remora/stack.log')).toContain('"message":"run ended"')
    expect(await stillRunning(started)).toEqual([])
    expect(await processesNaming(folder.path)).toEqual([])
  })

  it.skipIf(untestable)('has written a patch that applies, after which the project passes its own tests', async () => {
    const git = (...rest: string[]) =>
      promisify(execFile)('git', ['apply', ...rest, 'proposed.patch'], { cwd: folder.path })
    await git('--check')
    await git()
    const both = /def add_item\([^)]+\) -> int:\n {8}"""[^"]+"""\n(?: {8}.+\n)+ {8}self\.say\("added", item\.sku\)\n/
    expect(await folder.read('src/inventory/cli.py')).toMatch(both)
    expect(await folder.read('src/inventory/units.py')).toContain('_TABLE: Dict[Unit, ') // `dict[…]` needs Python 3.9
    const tests = await promisify(execFile)('python3', ['-m', 'unittest'], { cwd: folder.path })
    expect(tests.stderr).toMatch(/\nOK\s*$/)
  })
})

describe('remora run that is stopped on the way', () => {
  let folder: SourceFolder
  beforeEach(async () => {
    folder = await sourceFolder({ 'prices.py': manyFunctions(60) })
  })
  afterEach(() => folder.remove())

  it('leaves no process and no patch behind after Ctrl-C, and prints that the run can be resumed', async () => {
    const { run, started } = await inMidRun(programs, folder)
    run.interrupt()
    expect(await run.exited).toBe(130)
    expect(await stillRunning(started)).toEqual([])
    expect(await processesNaming(folder.path)).toEqual([])
    expect(await written(folder)).toEqual([])
    expect(existsSync(join(folder.path, '.remora', 'stack.lock'))).toBe(false)

    expect(run.err()).toContain(wayOn(run.err()))
  })

  it('ends the processes it started when it is killed with SIGKILL', async () => {
    const { run, started } = await inMidRun(programs, folder)
    run.kill('SIGKILL')
    expect(await run.exited).toBe('SIGKILL')
    await until(() => stillRunning(started), { holds: ({ length }) => length === 0 })
    expect(await processesNaming(folder.path)).toEqual([])
    expect(await written(folder)).toEqual([])
  })
})

describe('remora in a pipe', () => {
  it('prints documents of more than a pipe takes at once to their end', async () => {
    const folder = await exampleCopy()
    const discover = remora(programs, folder, ['discover', '.', '--json'])
    expect(await discover.exited, discover.err()).toBe(0)
    expect(discover.out().length).toBeGreaterThan(3 * 65_536)
    expect(lastDocument(discover.out())).toMatchObject({ nodes: expect.any(Array) })
    await folder.remove()
  })
})
