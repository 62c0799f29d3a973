import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { lastDocument, openPrograms, remora } from './program.ts'
import { sourceFolder, undocumented, type SourceFolder } from './source-folder.ts'

/**
 * A folder with the data of the embedded stack of commit 3322f56 (Redis' append-only file and the objects): a run that had
 * ended, one that waited for an answer, and one that was killed with 8 of its 24 operations done. A change that can no
 * longer read them would strand the runs of those who upgrade.
 */
const stored = fileURLToPath(new URL('data/stack-of-3322f56.tgz', import.meta.url))
const [ended, waiting, killed] = ['r0mwt91ie5ewi5rtrw', 'r0mwt91n73l3sx50y8', 'r0mwt91u80usj3neae']
/** Keeps the stored runs from expiring, since they get older and older. */
const env = { REMORA_RETENTION_S: '3000000000', REMORA_COLLECT_GRACE_S: '3000000000' }

const programs = openPrograms()
afterEach(() => programs.end())

describe.skipIf(lacks('git'))('the runs that an earlier version left', () => {
  let folder: SourceFolder
  beforeAll(async () => {
    folder = await sourceFolder({})
    await promisify(execFile)('tar', ['-xzf', stored, '-C', folder.path])
  })
  afterAll(() => folder.remove())

  async function outputOf(...args: string[]): Promise<string> {
    const program = remora(programs, folder, args, env)
    expect(await program.exited, program.err()).toBe(0)
    return program.out()
  }

  it('are shown, proved and explained as far as they had come', async () => {
    expect(await outputOf('show', ended)).toContain('completed')
    expect(await outputOf('verify', ended)).toContain(ended)
    expect(await outputOf('diff', ended)).toContain('+++ b/shop/stock.py')
    expect(await outputOf('transcript', ended, 'docstring', 'shop/stock.py', 'shelf_label')).toContain('submit_result')
    expect(await outputOf('transcript', waiting, 'purpose', 'ask.py', 'shelf')).toContain('What is shelf for?')
  })

  it('go on to their patch, without doing again what was done', async () => {
    const resumed = remora(programs, folder, ['run', '--resume', killed, '--json', '--out', 'whole.patch'], env)
    expect(await resumed.exited, resumed.err()).toBe(0)
    expect(lastDocument(resumed.out())).toMatchObject({ result: { run_id: killed, status: 'completed' } })
    expect(resumed.out().match(/"event":"operation\.ended"/g)).toHaveLength(24)
    await folder.apply(await folder.read('whole.patch'))
    expect(await folder.read('prices.py')).not.toMatch(undocumented)
    expect(await outputOf('verify', killed)).toContain(killed)
  })

  it('end as blocked where their question has expired in the meantime', async () => {
    const resumed = remora(programs, folder, ['run', '--resume', waiting, '--json'], env)
    expect(await resumed.exited, resumed.err()).toBe(1)
    expect(lastDocument(resumed.out())).toMatchObject({ result: { status: 'failed', error_code: 'ASK_003' } })
  })
})
