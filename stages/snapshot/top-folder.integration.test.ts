import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { readSnapshot } from '#store/objects/snapshot.ts'
import { lacks } from '#testing/this-machine.ts'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import { aSource } from './fetch/code-host.fixture.ts'
import { paxRecord, rawTar, type RawEntry } from './raw-tar.fixture.ts'
import { defaultSnapshotLimits } from './snapshot-limits.ts'
import { takeSnapshot } from './take-snapshot.ts'

const test = useOpened(testObjects)

/** Takes it as the archive of a code host. */
async function take(archive: Uint8Array) {
  const runId = `r${randomBytes(8).toString('hex')}`
  const uploadKey = objectKeys.upload(test.project, runId)
  await test.objects.put(uploadKey, archive)
  const { objects, project: projectId } = test
  const deps = { objects, blobs: openBlobStore(objects, { maxCacheBytes: 0 }), limits: defaultSnapshotLimits }
  const job = { projectId, runId, uploadKey, request: { repository: aSource() } }
  const { snapshotId, skipped } = await takeSnapshot(job, deps, AbortSignal.timeout(20_000))
  const { files, links } = await readSnapshot(objects, projectId, snapshotId)
  return { snapshotId, paths: files.map(({ path }) => path), links, skipped, files }
}

const taken = (...entries: RawEntry[]) => take(rawTar(entries))

describe('the archive of a code host', () => {
  it('is taken without the folder around it, as are the targets of its links', async () => {
    const { paths, links, files } = await taken(
      { ...paxRecord('comment', 'a'.repeat(40)), name: 'pax_global_header', type: 'g' },
      { name: 'acme-shop-aaaaaaa/', type: '5' },
      { name: 'acme-shop-aaaaaaa/src/a.py', content: 'x = 1\n' },
      { name: 'acme-shop-aaaaaaa/src/same.py', type: '1', target: 'acme-shop-aaaaaaa/src/a.py' },
      { name: 'acme-shop-aaaaaaa/latest', type: '2', target: 'src/a.py' },
    )
    expect(paths).toEqual(['src/a.py', 'src/same.py'])
    expect(files[0]?.hash).toBe(files[1]?.hash)
    expect(links).toEqual([{ path: 'latest', target: 'src/a.py' }])
  })

  it('gives the same snapshot whatever the folder is called', async () => {
    const [one, other] = await Promise.all(['a', 'b/'].map((top) => taken({ name: `${top}/a.py`, content: 'x = 1\n' })))
    expect(one?.snapshotId).toBe(other?.snapshotId)
  })

  it.each<[string, RawEntry[]]>([
    ['without a folder around all', [{ name: 'a.py' }, { name: 'b.py' }]],
    ['of one file', [{ name: 'a' }]],
    ['with two folders', [{ name: 'a/a.py' }, { name: 'b/b.py' }]],
    ['with the current folder around it', [{ name: './a.py' }]],
    ['that leads out', [{ name: '../a.py' }]],
    ['from the root', [{ name: '/a/a.py' }]],
    ['without anything', []],
  ])('is refused %s', async (_what, entries) => {
    await expect(taken(...entries)).rejects.toMatchObject({ code: 'INTAKE_001' })
  })

  it('leads nowhere out of the folder', async () => {
    await expect(taken({ name: 'top/../../a.py' })).rejects.toMatchObject({ code: 'INTAKE_002' })
    const link = { name: 'top/a.py', type: '1', target: 'other/a.py' }
    const { paths, skipped } = await taken({ name: 'top/b.py', content: '' }, link)
    expect(paths).toEqual(['b.py'])
    expect(skipped).toEqual([{ path: 'a.py', reason: 'a link to "../other/a.py", which is outside the repository' }])
  })

  it.skipIf(lacks('git'))('is what git packs of a commit, whose submodules are empty folders', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'remora-top-folder-'))
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', dir, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { maxBuffer: 1 << 24 })
    try {
      git('init', '--quiet')
      await mkdir(join(dir, 'src'))
      await writeFile(join(dir, 'src/a.py'), 'x = 1\n')
      await writeFile(join(dir, '.gitmodules'), '[submodule "x"]\n\tpath = libs/x\n\turl = ../x.git\n')
      await symlink('src/a.py', join(dir, 'latest'))
      git('add', '.')
      git('update-index', '--add', '--cacheinfo', `160000,${'b'.repeat(40)},libs/x`)
      git('commit', '--quiet', '-m', 'first')
      const { paths, links, skipped } = await take(git('archive', '--format=tar.gz', '--prefix=shop-1/', 'HEAD'))
      expect(paths).toEqual(['.gitmodules', 'src/a.py'])
      expect(links).toEqual([{ path: 'latest', target: 'src/a.py' }])
      expect(skipped).toEqual([{ path: 'libs/x', reason: 'a submodule: its code is in another repository' }])
    } finally {
      await rm(dir, { recursive: true })
    }
  })
})
