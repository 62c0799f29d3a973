import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { execFile, execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { giveAway, lacks } from '#testing/this-machine.ts'
import { makeDataFolder } from './data-folder.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

const gitless = lacks('git')

const run = promisify(execFile)

let dir = ''
useFreshFolder((path) => (dir = path))

describe('the data folder', () => {
  it('hides itself from git when it is made, and writes nothing into a folder that was there', async () => {
    await makeDataFolder(join(dir, '.remora'))
    expect(await readFile(join(dir, '.remora', '.gitignore'), 'utf8')).toBe('*\n')
    await makeDataFolder(dir)
    expect(await readdir(dir)).toEqual(['.remora'])
  })

  it.skipIf(gitless)('is refused when it came with a repository, which starts nothing of that repository', async () => {
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

  it.skipIf(gitless)('is refused when git tracks files in it, also from a hook of another repository', async () => {
    const git = (...args: string[]) => run('git', ['-C', dir, ...args])
    await git('init', '--quiet')
    await mkdir(join(dir, '.remora'))
    await writeFile(join(dir, '.remora', 'stack.log'), '')
    await git('add', '--force', '.remora/stack.log')
    await run('git', ['init', '--quiet', join(dir, 'other')])
    const source = JSON.stringify(fileURLToPath(new URL('data-folder.ts', import.meta.url)))
    const script = `import { makeDataFolder } from ${source}; await makeDataFolder('.remora')`
    const env = { ...process.env, GIT_DIR: join(dir, 'other', '.git'), GIT_INDEX_FILE: join(dir, 'nothing') }
    const made = run(process.execPath, ['--input-type=module', '-e', script], { cwd: dir, env })
    await expect(made).rejects.toThrow(/git tracks files in \.remora/)
  })

  it('is refused when git cannot say what it tracks', async () => {
    await writeFile(join(dir, '.git'), 'gitdir: nowhere\n')
    await makeDataFolder(join(dir, '.remora'))
    await writeFile(join(dir, '.remora', 'stack.log'), '')
    await rm(join(dir, '.remora', '.gitignore'))
    await expect(makeDataFolder(join(dir, '.remora'))).rejects.toThrow(/git does not say .*REMORA_DATA_DIR/)
  })

  it('is refused when it is a link, and what it leads to stays untouched', async () => {
    await mkdir(join(dir, 'victim'))
    await symlink('victim', join(dir, '.remora'))
    const made = makeDataFolder(join(dir, '.remora'))
    await expect(made).rejects.toMatchObject({ code: 'CONFIG_003' })
    await expect(made).rejects.toThrow(/is a link: .*REMORA_DATA_DIR/)
    expect(await readdir(join(dir, 'victim'))).toEqual([])
  })

  it.each(['.gitignore', 'stack.log', 'stack-version', 'redis', 'redis/appendonlydir', 'objects/projects/default'])(
    'is refused when its %s is a link, and what that leads to stays as it is',
    async (name) => {
      const victim = join(dir, 'victim')
      await writeFile(victim, 'mine')
      const planted = join(dir, '.remora', name)
      await mkdir(dirname(planted), { recursive: true })
      await symlink(victim, planted)
      await expect(makeDataFolder(join(dir, '.remora'))).rejects.toThrow(`${planted} is a link`)
      expect(await readFile(victim, 'utf8')).toBe('mine')
    },
  )

  it('is refused with a pipe in it, or what another user has left there', async (test) => {
    await mkdir(join(dir, '.remora'))
    execFileSync('mkfifo', [join(dir, '.remora', 'stack.lock')])
    await expect(makeDataFolder(join(dir, '.remora'))).rejects.toThrow(/neither a file nor a folder/)
    await rm(join(dir, '.remora', 'stack.lock'))
    await writeFile(join(dir, '.remora', 'stack.log'), '')
    const refused = await giveAway(join(dir, '.remora', 'stack.log'))
    if (refused !== undefined) return test.skip(refused)
    await expect(makeDataFolder(join(dir, '.remora'))).rejects.toThrow(/stack\.log belongs to another user/)
  })

  it('is refused while others may write it', async () => {
    await mkdir(join(dir, '.remora'))
    await chmod(join(dir, '.remora'), 0o777)
    await expect(makeDataFolder(join(dir, '.remora'))).rejects.toThrow(/may be written by others: "chmod 700/)
  })

  it('is closed to others, also one that was open before', async () => {
    const mode = async (name: string) => (await stat(join(dir, name))).mode & 0o777
    await makeDataFolder(join(dir, 'new'))
    expect(await mode('new')).toBe(0o700)
    await mkdir(join(dir, 'old', 'redis'), { recursive: true })
    await chmod(join(dir, 'old'), 0o755)
    await makeDataFolder(join(dir, 'old'))
    expect([await mode('old'), await mode('old/redis')]).toEqual([0o700, 0o700])
  })

  it('stays as open as it is when it holds other things, without what is ours in it', async () => {
    await mkdir(join(dir, 'mixed', 'objects'), { recursive: true })
    await mkdir(join(dir, 'mixed', 'photos'))
    for (const name of ['mixed', 'mixed/objects', 'mixed/photos']) await chmod(join(dir, name), 0o755)
    await makeDataFolder(join(dir, 'mixed'))
    const mode = async (name: string) => (await stat(join(dir, name))).mode & 0o777
    expect([await mode('mixed'), await mode('mixed/objects'), await mode('mixed/photos')]).toEqual([
      0o755, 0o700, 0o755,
    ])
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
