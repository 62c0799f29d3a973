import { execFileSync } from 'node:child_process'
import { readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openStackLog } from './stack-log.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

let dir = ''
let path = ''
useFreshFolder((fresh) => (dir = fresh))
beforeEach(async () => {
  path = join(dir, 'stack.log')
})

const open = (append: boolean) => openStackLog({ path, append, level: 'info' })

async function writeLine(append: boolean): Promise<void> {
  const log = await open(append)
  log.write('new\n')
  await log.close()
}

describe('the log of a stack', () => {
  it('keeps the previous one next to it, or continues it, and is closed to others', async () => {
    await writeFile(path, 'old\n', { mode: 0o644 })
    await writeLine(true)
    expect(await readFile(path, 'utf8')).toBe('old\nnew\n')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await writeLine(false)
    expect(await readFile(path, 'utf8')).toBe('new\n')
    expect(await readFile(`${path}.1`, 'utf8')).toBe('old\nnew\n')
  })

  it('is not written through a link, nor into a pipe nobody reads', async () => {
    const victim = join(dir, 'victim')
    await writeFile(victim, 'mine')
    await symlink(victim, path)
    await expect(open(true)).rejects.toMatchObject({ code: 'CONFIG_003' })
    expect(await readFile(victim, 'utf8')).toBe('mine')
    await rm(path)
    execFileSync('mkfifo', [path])
    await expect(open(true)).rejects.toMatchObject({ code: 'CONFIG_003' })
  })
})
