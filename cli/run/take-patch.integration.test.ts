import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { aRun } from '../answers.fixture.ts'
import { applyElsewhereHint, applyHint, applyPatch, fitsFolder, takePatch } from './take-patch.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

const execute = promisify(execFile)
const diff = 'diff --git a/f.txt b/f.txt\n--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-old\n+new\n'

let dir = ''
let patch = ''
useFreshFolder((path) => (dir = path))
beforeEach(async () => {
  patch = join(dir, 'out.patch')
  await mkdir(join(dir, 'part one'))
  await writeFile(join(dir, 'part one', 'f.txt'), 'old\n')
  await writeFile(patch, diff)
})

const content = () => readFile(join(dir, 'part one', 'f.txt'), 'utf8')

describe.skipIf(lacks('git'))('applying a patch to the folder it was made of', () => {
  it('works outside any repository', async () => {
    await applyPatch(join(dir, 'part one'), patch, process.env)
    expect(await content()).toBe('new\n')
  })

  it('works in a subfolder of a repository, where git alone would skip every file', async () => {
    await execute('git', ['init', '-q'], { cwd: dir })
    await applyPatch(join(dir, 'part one'), patch, process.env)
    expect(await content()).toBe('new\n')
  })

  it('changes nothing and says why when the folder has changed', async () => {
    await writeFile(join(dir, 'part one', 'f.txt'), 'other\n')
    const applied = applyPatch(join(dir, 'part one'), patch, process.env)
    await expect(applied).rejects.toMatchObject({ code: 'WORK_002' })
    await expect(applied).rejects.toThrow('patch does not apply')
    await expect(applied).rejects.toThrow(`the patch is kept in ${patch}`)
    expect(await content()).toBe('other\n')
  })

  it.each([false, true])('has a hint that works when it is pasted (in a repository: %s)', async (inRepository) => {
    if (inRepository) await execute('git', ['init', '-q'], { cwd: dir })
    await execute('sh', ['-c', await applyHint(join(dir, 'part one'), patch, { cwd: dir, env: process.env })], {
      cwd: dir,
    })
    expect(await content()).toBe('new\n')
  })

  it.each(['outside', 'at the top', 'in a subfolder'])(
    'has a hint for an archive, and for a run of elsewhere, that works where it is pasted: %s of a repository',
    async (place) => {
      const folder = join(dir, 'part one')
      if (place !== 'outside') await execute('git', ['init', '-q'], { cwd: place === 'at the top' ? folder : dir })
      await execute('tar', ['-cf', join(dir, 'it.tar'), '-C', folder, 'f.txt'])
      await execute('sh', ['-c', await applyHint(join(dir, 'it.tar'), patch, { cwd: dir, env: process.env })], {
        cwd: folder,
      })
      expect(await content()).toBe('new\n')
      await writeFile(join(folder, 'f.txt'), 'old\n')
      await execute('sh', ['-c', applyElsewhereHint(patch)], { cwd: folder })
      expect(await content()).toBe('new\n')
    },
  )

  it.each([
    ['outside of a checkout', undefined, 'git -C shop apply '],
    ['in a checkout of its own', 'shop', 'git -C shop apply '],
    ['in one checkout with the folder around it', '.', 'git apply --directory=shop '],
  ])('has a hint for an earlier run of a folder below, %s', async (_where, checkout, hint) => {
    await mkdir(join(dir, 'shop/src'), { recursive: true })
    await writeFile(join(dir, 'shop/src/f.txt'), 'old\n')
    if (checkout !== undefined) await execute('git', ['init', '-q'], { cwd: join(dir, checkout) })
    if (checkout === '.') await execute('git', ['add', '.'], { cwd: dir })
    const client = { readPatch: async () => Readable.from([Buffer.from(diff.replaceAll('f.txt', 'src/f.txt'))]) }
    const order = { path: '.', apply: false, isNew: false }
    const run = aRun()
    const taken = await takePatch(client, run, order, { cwd: dir, env: process.env })
    expect(taken?.hint.startsWith(hint), taken?.hint).toBe(true)
    expect(taken?.elsewhere).toBeUndefined()
    await execute('sh', ['-c', taken?.hint ?? ''], { cwd: dir })
    expect(await readFile(join(dir, 'shop/src/f.txt'), 'utf8')).toBe('new\n')
  })

  it('knows another folder from the one it was made of', async () => {
    expect(await fitsFolder(dir, patch, process.env)).toBe(false)
    expect(await fitsFolder(join(dir, 'part one'), patch, process.env)).toBe(true)
  })
})
