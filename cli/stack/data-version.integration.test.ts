import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lockStack } from './running-stack.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-version-'))
})
afterEach(async () => {
  await rm(dir, { recursive: true, force: true })
})

const mark = () => readFile(join(dir, 'stack-version'), 'utf8')

describe('the version of a data folder', () => {
  it('is marked when a stack takes the folder, and the next one goes on with it', async () => {
    await (await lockStack(dir)).release()
    expect(await mark()).toBe('1\n')
    await (await lockStack(dir)).release()
    expect(await mark()).toBe('1\n')
  })

  it('is taken as the first where there was no mark yet', async () => {
    await mkdir(join(dir, 'redis'))
    await (await lockStack(dir)).release()
    expect(await mark()).toBe('1\n')
    expect(await readdir(dir)).toContain('redis')
  })

  it.each(['2\n', '17', 'soon'])('is refused when it is %j, before anything is touched', async (newer) => {
    await writeFile(join(dir, 'stack-version'), newer)
    await writeFile(join(dir, '.gitignore'), '*\n')
    const locked = lockStack(dir)
    await expect(locked).rejects.toMatchObject({ code: 'CONFIG_006' })
    await expect(locked).rejects.toThrow(/knows version 1: use the newer Remora that wrote them, or .*REMORA_DATA_DIR/)
    expect((await readdir(dir)).toSorted()).toEqual(['.gitignore', 'stack-version'])
    expect(await mark()).toBe(newer)
  })
})
