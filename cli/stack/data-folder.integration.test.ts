import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { giveAway } from '#testing/give-away.ts'
import { makeDataFolder } from './data-folder.ts'

const run = promisify(execFile)

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-data-'))
})
afterEach(async () => {
  await rm(dir, { recursive: true, force: true })
})

describe('the data folder', () => {
  it('is made with the folders above it, and may be there already', async () => {
    await makeDataFolder(join(dir, 'a', 'b'))
    await makeDataFolder(join(dir, 'a', 'b'))
    expect(await readdir(join(dir, 'a'))).toEqual(['b'])
  })

  it('hides itself from git when it is made, and writes nothing into a folder that was there', async () => {
    await makeDataFolder(join(dir, '.remora'))
    expect(await readFile(join(dir, '.remora', '.gitignore'), 'utf8')).toBe('*\n')
    await makeDataFolder(dir)
    expect(await readdir(dir)).toEqual(['.remora'])
  })

  it('is refused when it came with a repository, which starts nothing of that repository', async () => {
    const git = (...args: string[]) => run('git', ['-C', dir, ...args])
    await git('init', '--quiet')
    await mkdir(join(dir, '.remora', 'redis'), { recursive: true })
    await writeFile(join(dir, '.remora', 'redis', 'appendonly.aof'), '')
    await makeDataFolder(join(dir, '.remora'))
    await git('add', '--force', '.remora/redis')
    await git('config', 'core.fsmonitor', `touch ${join(dir, 'PWNED')}; false`)
    const made = makeDataFolder(join(dir, '.remora'))
    await expect(made).rejects.toMatchObject({ code: 'CONFIG_003' })
    await expect(made).rejects.toThrow(/git tracks files in .*REMORA_DATA_DIR/)
    expect(await readdir(dir)).not.toContain('PWNED')
  })

  it('is refused when it is of another user', async (test) => {
    await mkdir(join(dir, '.remora'))
    const refused = await giveAway(join(dir, '.remora'))
    if (refused !== undefined) return test.skip(refused)
    await expect(makeDataFolder(join(dir, '.remora'))).rejects.toThrow(/belongs to another user/)
  })

  it('is refused under a file, and where the system makes no folders', async () => {
    await writeFile(join(dir, 'file'), '')
    for (const path of [join(dir, 'file'), join(dir, 'file', 'data'), '/proc/remora/data']) {
      const made = makeDataFolder(path)
      await expect(made).rejects.toMatchObject({ code: 'CONFIG_003' })
      await expect(made).rejects.toThrow(new RegExp(`${path} .*REMORA_DATA_DIR`))
    }
  })

  it('is refused on a full disk, in words of a full disk', async (test) => {
    const disk = join(dir, 'disk')
    await mkdir(disk)
    const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]).catch((error: Error) => error)
    if (mounted instanceof Error) return test.skip(`no small disk can be mounted here: ${mounted.message}`)
    try {
      const made = makeDataFolder(join(disk, '.remora'))
      await expect(made).rejects.toMatchObject({ code: 'CONFIG_003' })
      await expect(made).rejects.toThrow(/ENOSPC.*the disk is full, free some space, or .*REMORA_DATA_DIR/)
      expect(await readdir(join(disk, '.remora'))).toEqual(['.gitignore'])
    } finally {
      await run('umount', [disk])
    }
  })
})
