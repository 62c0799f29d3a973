import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Submission } from '../run/submit-source.ts'
import { patchedFolder, withRepository } from './repository-around.ts'

describe('a folder in a checkout', () => {
  let top: string
  beforeAll(async () => {
    top = await realpath(await mkdtemp(join(tmpdir(), 'remora-around-')))
    for (const folder of ['.git', 'src/shop', 'tools/.ci', 'third_party/lib', 'build', 'other/old']) {
      await mkdir(join(top, folder), { recursive: true })
    }
    await writeFile(join(top, 'pyproject.toml'), '[project]\n')
    await writeFile(join(top, '.gitignore'), 'build/\n')
  })
  afterAll(() => rm(top, { recursive: true, force: true }))

  const sourceOf = (path: string, more: Partial<Submission> = {}, cwd = top) => {
    const submission: Submission = { agents: ['lint'], ...more }
    return withRepository({ path, submission }, { cwd, io: { err: () => {} } })
  }

  it('is sent with its project, and what is asked for of it is named in that', async () => {
    const found = await sourceOf('src/shop', { exclude: ['old.py'] })
    expect(found).toMatchObject({ path: top, submission: { paths: ['src/shop'], exclude: ['src/shop/old.py'] } })
    expect((await sourceOf('.', { paths: ['*.py'] }, join(top, 'src/shop'))).submission.paths).toEqual([
      'src/shop/*.py',
    ])
  })

  it.each(['.', 'tools/.ci', 'third_party/lib', 'build', 'gone'])('is left as it is: %s', async (path) => {
    expect(await sourceOf(path)).toMatchObject({ path, submission: { agents: ['lint'] } })
    expect((await sourceOf(path)).submission.paths).toBeUndefined()
  })

  it('is left as it is with --folder-only, and when it is compared with an earlier copy', async () => {
    expect(await sourceOf('src/shop', { folderOnly: true })).toMatchObject({ path: 'src/shop' })
    expect(await sourceOf('src/shop', { since: 'other/old' })).toMatchObject({ path: 'src/shop' })
    expect(await sourceOf('src/shop', { since: 'main' })).toMatchObject({ path: top })
  })

  it('takes no glob that leads out of it', async () => {
    for (const glob of ['../other', '!a.py']) {
      await expect(sourceOf('src/shop', { paths: [glob] })).rejects.toMatchObject({ code: 'INTAKE_008' })
    }
  })

  it('gets the patch of a run on it alone, and its project that of a run with the project', async () => {
    const folder = join(top, 'src/shop')
    expect(await patchedFolder(folder, {})).toBe(folder)
    expect(await patchedFolder(folder, { paths: ['a.py'] })).toBe(folder)
    expect(await patchedFolder(folder, { paths: ['src/shop'] })).toBe(top)
  })
})
