import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { descendantsOf, stillRunning } from '../living-processes.ts'
import { openPrograms } from '../program.ts'

describe('a tool script that is tried', () => {
  const programs = openPrograms()
  let dir = ''
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'remora-tool-'))
    await writeFile(join(dir, 'forever.pym'), 'n = 1\nwhile n > 0:\n    n = n + 1\nn\n')
  })
  afterAll(async () => {
    await programs.end()
    await rm(dir, { recursive: true, force: true })
  })

  it('is ended by Ctrl-C with its process, while it computes', async () => {
    const args = ['cli/main.ts', 'tool', 'run', join(dir, 'forever.pym'), '--limits', 'permissive']
    const program = programs.start(args, { env: {} })
    const children = await until(() => descendantsOf(program.pid), { holds: ({ length }) => length > 0 })
    program.interrupt()
    expect(await program.exited).toBe(130)
    expect(program.out()).toBe('')
    await until(() => stillRunning(children), { holds: ({ length }) => length === 0 })
  })
})
