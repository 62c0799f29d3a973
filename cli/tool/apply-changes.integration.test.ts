import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { applyChanges } from './workspace-changes.ts'

const [old, made] = [Buffer.from('old\n'), Buffer.from('new\n')]
const edit = (path: string) => ({ path, kind: 'edit' as const, before: old, after: made, diff: '' })
const create = (path: string) => ({ path, kind: 'create' as const, before: null, after: made, diff: '' })
const remove = (path: string) => ({ path, kind: 'delete' as const, before: old, after: null, diff: '' })

let top = ''
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), 'apply-')))
  await writeFile(join(top, 'a.txt'), 'old\n')
  await writeFile(join(top, 'b.txt'), 'old\n')
})
afterEach(() => rm(top, { recursive: true, force: true }))

const read = (path: string) => readFile(join(top, path), 'utf8')

describe('changes that are applied to a folder', () => {
  it('may be deletions, after which a folder that is empty is gone, and a folder may be where a file was', async () => {
    await mkdir(join(top, 'c'))
    await writeFile(join(top, 'c/d.txt'), old)
    await applyChanges(top, [create('a.txt/e.txt'), remove('a.txt'), remove('c/d.txt')])
    expect(await readdir(top)).toEqual(['a.txt', 'b.txt'])
    expect(await read('a.txt/e.txt')).toBe('new\n')
    await writeFile(join(top, 'b.txt'), 'mine\n')
    await expect(applyChanges(top, [remove('b.txt')])).rejects.toMatchObject({ code: 'WORK_002' })
    expect(await read('b.txt')).toBe('mine\n')
  })

  it.each([
    ['was changed', () => writeFile(join(top, 'b.txt'), 'mine\n')],
    ['was removed', () => rm(join(top, 'b.txt'))],
    [
      'has become a link to the same text',
      async () => {
        await writeFile(join(top, 'same.txt'), 'old\n')
        await rm(join(top, 'b.txt'))
        await symlink('same.txt', join(top, 'b.txt'))
      },
    ],
  ])('are refused, all of them, when one of the files %s meanwhile', async (_what, meanwhile) => {
    await meanwhile()
    const applied = applyChanges(top, [edit('a.txt'), edit('b.txt')])
    await expect(applied).rejects.toMatchObject({ code: 'WORK_002', message: expect.stringContaining('b.txt changed') })
    expect(await read('a.txt')).toBe('old\n')
  })

  it('are refused when a new file exists by now, or its folder leads out by a link', async () => {
    await writeFile(join(top, 'c.txt'), 'mine\n')
    await expect(applyChanges(top, [create('c.txt')])).rejects.toMatchObject({ code: 'WORK_002' })
    await mkdir(join(top, 'real'))
    await symlink('real', join(top, 'linked'))
    await symlink('nowhere', join(top, 'dangling'))
    await expect(applyChanges(top, [create('linked/x/e.txt')])).rejects.toMatchObject({ code: 'WORK_002' })
    await expect(applyChanges(top, [create('dangling/e.txt')])).rejects.toMatchObject({ code: 'WORK_002' })
    expect(await readdir(join(top, 'real'))).toEqual([])
  })

  it('are put back, all of them, when one of them cannot be made', async () => {
    await chmod(join(top, 'a.txt'), 0o600)
    await writeFile(join(top, 'c.txt'), old)
    const moved = [edit('a.txt'), remove('c.txt'), create('b.txt/under-a-file.txt')]
    await expect(applyChanges(top, moved)).rejects.toMatchObject({ code: 'WORK_002' })
    expect(await readdir(top)).toEqual(['a.txt', 'b.txt', 'c.txt'])
    expect([await read('a.txt'), await read('b.txt'), await read('c.txt')]).toEqual(['old\n', 'old\n', 'old\n'])
    expect((await stat(join(top, 'a.txt'))).mode & 0o777).toBe(0o600)
  })
})
