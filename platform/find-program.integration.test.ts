import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findProgram } from './run-program.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-find-'))
  for (const name of ['first', 'second']) {
    await mkdir(join(dir, name))
    await writeFile(join(dir, name, 'tool'), '', { mode: name === 'first' ? 0o644 : 0o755 })
  }
})
afterEach(() => rm(dir, { recursive: true }))

describe('a program of the PATH', () => {
  it('is the first one that may be executed', async () => {
    const searchPath = ['missing', 'first', 'second'].map((name) => join(dir, name)).join(':')
    expect(await findProgram('tool', searchPath)).toBe(join(dir, 'second', 'tool'))
    expect(await findProgram('other', searchPath)).toBeUndefined()
  })

  it('is never looked for from the working folder', async () => {
    const fromHere = relative(process.cwd(), join(dir, 'second'))
    expect(await findProgram('tool', `${fromHere}::.:./${fromHere}`)).toBeUndefined()
  })
})
