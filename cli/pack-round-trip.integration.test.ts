import { randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { readSnapshot } from '#store/objects/snapshot.ts'
import { testObjects } from '#testing/s3.ts'
import { defaultSnapshotLimits } from '#stages/snapshot/snapshot-limits.ts'
import { takeSnapshot } from '#stages/snapshot/take-snapshot.ts'
import { useOpened } from '#testing/use-opened.ts'
import { packFolder } from './pack-folder.ts'

const contents: Record<string, Buffer> = {
  'README.md': Buffer.from('# Read me\r\nWindows line ends\r\n'),
  'empty.txt': Buffer.alloc(0),
  'run.sh': Buffer.from('#!/bin/sh\n'),
  'src/ünï-€/名前 😀.py': Buffer.from('x = "é"\n'),
  'bin/random.dat': randomBytes(3_000_000),
  'bin/block.dat': Buffer.alloc(1024, 7),
  [`${'long-folder-name/'.repeat(17)}${'x'.repeat(20)}.py`]: Buffer.from('long = True\n'),
  [`${'n'.repeat(101)}.py`]: Buffer.from('name = 104\n'),
  [`${'名'.repeat(60)}/${'前'.repeat(80)}.py`]: Buffer.from('wide = True\n'),
}

let folder: string
const test = useOpened(testObjects)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'remora-round-trip-'))
  for (const [path, content] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  await chmod(join(folder, 'run.sh'), 0o755)
  await symlink('../empty.txt', join(folder, 'bin/link'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a folder that is packed, uploaded and taken as a snapshot', () => {
  it('has the same bytes, names, executable bits and links as on disk', async () => {
    const signal = AbortSignal.timeout(20_000)
    const uploadKey = objectKeys.upload(test.project, 'r00000000trip')
    const packed = await packFolder(folder, { signal })
    await test.objects.putStream(uploadKey, packed.stream, { maxBytes: 1e9, contentType: 'application/gzip' })
    const blobs = openBlobStore(test.objects, { maxCacheBytes: 0 })
    const deps = { objects: test.objects, blobs, limits: defaultSnapshotLimits }
    const job = { projectId: test.project, runId: 'r00000000trip', uploadKey }
    const taken = await takeSnapshot(job, deps, signal)
    const view = await readSnapshot(test.objects, test.project, taken.snapshotId)
    expect(view.files.map(({ path }) => path)).toEqual(Object.keys(contents).toSorted())
    for (const file of view.files) {
      const bytes = Buffer.from(await blobs.get(test.project, file.hash))
      expect({ path: file.path, same: contents[file.path]?.equals(bytes) }).toEqual({ path: file.path, same: true })
      expect(file.executable).toBe(file.path === 'run.sh')
    }
    expect(view.links).toEqual([{ path: 'bin/link', target: '../empty.txt' }])
    expect(packed.files).toBe(view.files.length + view.links.length)
  })
})
