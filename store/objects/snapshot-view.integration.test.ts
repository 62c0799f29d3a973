import { describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import { objectKeys } from './object-keys.ts'
import { openSnapshotReader, readSnapshot, type SnapshotFile, writeSnapshot } from './snapshot.ts'

const test = useOpened(testObjects)

const file = (path: string, executable = false): SnapshotFile => ({ path, hash: sha256(path), size: 3, executable })
const contents = {
  files: [file('src/a.py'), file('README.md'), file('src/deep/er/x.py', true), file('src.py'), file('src/ä.py')],
  links: [{ path: 'src/latest', target: 'a.py' }],
  skipped: [{ path: '.git', reason: 'not source' }],
}

describe('a snapshot', () => {
  it('is read back with its files sorted by path and found by path', async () => {
    const { snapshotId, bytes } = await writeSnapshot(test.objects, test.project, contents)
    const view = await readSnapshot(test.objects, test.project, snapshotId)
    expect(bytes).toBe(15)
    expect(view.files.map(({ path }) => path)).toEqual([
      'README.md',
      'src.py',
      'src/a.py',
      'src/deep/er/x.py',
      'src/ä.py',
    ])
    expect(view.find('src/deep/er/x.py')).toEqual(file('src/deep/er/x.py', true))
    expect(view.find('src/deep')).toBeUndefined()
    expect(view.find('src/latest')).toBeUndefined()
    expect(view).toMatchObject({ id: snapshotId, bytes: 15, links: contents.links, skipped: contents.skipped })
  })

  it('has the same id whatever order the files came in, and another when one differs', async () => {
    const idOf = async (files: SnapshotFile[]) =>
      (await writeSnapshot(test.objects, test.project, { ...contents, files })).snapshotId
    const { snapshotId } = await writeSnapshot(test.objects, test.project, contents)
    expect(await idOf(contents.files.toReversed())).toBe(snapshotId)
    expect(await idOf([...contents.files.slice(1), file('src/a.py', true)])).not.toBe(snapshotId)
  })

  it('may hold nothing at all', async () => {
    const empty = { files: [], links: [], skipped: [] }
    const { snapshotId } = await writeSnapshot(test.objects, test.project, empty)
    expect(await readSnapshot(test.objects, test.project, snapshotId)).toMatchObject(empty)
  })

  it('is refused when a folder of it is missing or damaged, and read again once that is mended', async () => {
    const { snapshotId } = await writeSnapshot(test.objects, test.project, { ...contents, files: [file('one/x')] })
    const tree = JSON.stringify({ v: 1, entries: [{ type: 'file', name: 'x', ...withoutPath(file('one/x')) }] })
    const key = objectKeys.tree(test.project, sha256(tree))
    const read = openSnapshotReader(test.objects)
    await test.objects.put(key, tree.replace('false', 'true'))
    await expect(read(test.project, snapshotId)).rejects.toMatchObject({ code: 'STORE_003' })
    await test.objects.delete(key)
    await expect(read(test.project, snapshotId)).rejects.toMatchObject({ code: 'STORE_003' })
    await test.objects.put(key, tree)
    expect((await read(test.project, snapshotId)).find('one/x')).toEqual(file('one/x'))
  })
})

function withoutPath({ hash, size, executable }: SnapshotFile): Omit<SnapshotFile, 'path'> {
  return { hash, size, executable }
}
