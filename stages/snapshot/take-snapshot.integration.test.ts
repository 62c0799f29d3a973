import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, cp, link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { putNotSentFiles } from '#store/objects/not-sent-files.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { sha256 } from '#domain/ids.ts'
import type { SkipKind } from '#domain/run.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { readSnapshot } from '#store/objects/snapshot.ts'
import { lacks } from '#testing/this-machine.ts'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import { rawZip } from './raw-zip.fixture.ts'
import { defaultSnapshotLimits } from './snapshot-limits.ts'
import { takeSnapshot } from './take-snapshot.ts'

const gitless = lacks('git')

const longName = `${'long-folder-name/'.repeat(17)}file.py`
const contents: Record<string, Buffer> = {
  'README.md': Buffer.from('# Read me\r\nWindows line ends\r\n'),
  'empty.txt': Buffer.alloc(0),
  'src/a.py': Buffer.from('def a():\n    return 1\n'),
  'src/ünï-€/名前.py': Buffer.from('x = "é"\n'),
  'bin/binary.dat': randomBytes(300_000),
  'block.bin': Buffer.alloc(512, 7),
  [longName]: Buffer.from('long = True\n'),
}

let root: string

const test = useOpened(testObjects)
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'remora-snapshot-'))
  for (const [path, content] of Object.entries(contents)) {
    await mkdir(dirname(join(root, 'repo', path)), { recursive: true })
    await writeFile(join(root, 'repo', path), content)
  }
  await chmod(join(root, 'repo/src/a.py'), 0o755)
  await symlink('src/a.py', join(root, 'repo/current'))
  await mkdir(join(root, 'repo/empty-folder'))
  await mkdir(join(root, 'repo/.git/objects'), { recursive: true })
  await writeFile(join(root, 'repo/.git/objects/x'), 'git')
  await writeFile(join(root, 'repo/.git/HEAD'), 'ref')
})
afterAll(() => rm(root, { recursive: true, force: true }))

const systemTar = (...options: string[]): Buffer =>
  execFileSync('tar', ['-c', '-C', join(root, 'repo'), ...options], { maxBuffer: 1 << 28 })

async function take(
  archive: Uint8Array,
  objects: ObjectStore = test.objects,
  signal = AbortSignal.timeout(20_000),
  include: SkipKind[] = [],
) {
  const uploadKey = objectKeys.upload(test.project, `r${randomBytes(8).toString('hex')}`)
  await test.objects.put(uploadKey, archive)
  const deps = { objects, blobs: openBlobStore(objects, { maxCacheBytes: 0 }), limits: defaultSnapshotLimits }
  const job = { projectId: test.project, runId: 'r00000000test', uploadKey, request: { include } }
  return takeSnapshot(job, deps, signal)
}

describe('a snapshot of an archive made by tar', () => {
  it.each([
    ['a gzipped GNU tar', ['-z', '--format=gnu', '.']],
    ['a plain pax tar', ['--format=pax', '.']],
    ['a gzipped pax tar without ./', ['-z', '--format=pax', ...Object.keys(contents), 'current', '.git']],
  ])('holds every byte, mode and link of %s', async (_name, options) => {
    const taken = await take(systemTar(...options))
    const view = await readSnapshot(test.objects, test.project, taken.snapshotId)
    const blobs = openBlobStore(test.objects, { maxCacheBytes: 0 })
    expect(view.files.map(({ path }) => path)).toEqual(Object.keys(contents).toSorted())
    for (const file of view.files) {
      const bytes = Buffer.from(await blobs.get(test.project, file.hash))
      expect({ path: file.path, same: contents[file.path]?.equals(bytes) }).toEqual({ path: file.path, same: true })
      expect({ path: file.path, size: file.size, executable: file.executable }).toEqual({
        path: file.path,
        size: bytes.length,
        executable: file.path === 'src/a.py',
      })
    }
    expect(view.links).toEqual([{ path: 'current', target: 'src/a.py' }])
    expect(taken.skipped.map(({ path }) => path)).toEqual(['.git'])
    expect(taken).toMatchObject({ files: view.files.length, bytes: view.bytes })
  })

  it.skipIf(gitless)('has the same id for the same files, whether Git packed them as a tar or as a zip', async () => {
    const checkout = join(root, 'checkout')
    await cp(join(root, 'repo'), checkout, { recursive: true, verbatimSymlinks: true })
    await rm(join(checkout, '.git'), { recursive: true })
    const git = (...args: string[]) => execFileSync('git', ['-C', checkout, ...args], { maxBuffer: 1 << 28 })
    git('init', '-q')
    git('add', '.')
    git('-c', 'user.name=x', '-c', 'user.email=x@example.org', '-c', 'core.autocrlf=false', 'commit', '-qm', 'x')
    const formats = ['tar', 'tar.gz', 'zip']
    const taken = await Promise.all(formats.map((format) => take(git('archive', `--format=${format}`, 'HEAD'))))
    const [first] = taken
    expect(taken).toEqual([first, first, first])
    const view = await readSnapshot(test.objects, test.project, first?.snapshotId ?? '')
    expect(view.files.map(({ path }) => path)).toEqual(Object.keys(contents).toSorted())
    expect(view.files.filter(({ executable }) => executable).map(({ path }) => path)).toEqual(['src/a.py'])
    expect(view.links).toEqual([{ path: 'current', target: 'src/a.py' }])
  })

  it('skips a name that is not UTF-8 and says so', async () => {
    const folder = join(root, 'latin')
    await mkdir(folder)
    await writeFile(join(folder, 'good.py'), 'x')
    await writeFile(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.of(0xe9), Buffer.from('.py')]), 'x')
    const taken = await take(execFileSync('tar', ['-c', '-C', folder, '.']))
    expect(taken.files).toBe(1)
    expect(taken.skipped).toEqual([{ path: 'caf\uFFFD.py', reason: 'the name is not UTF-8' }])
  })

  it('of an empty folder holds nothing', async () => {
    const folder = join(root, 'nothing')
    await mkdir(folder)
    expect(await take(execFileSync('tar', ['-c', '-C', folder, '.']))).toMatchObject({
      files: 0,
      bytes: 0,
      skipped: [],
    })
  })
})

describe('taking a snapshot', () => {
  it('reads a zip in blocks, each once, and nothing of it as a whole', async () => {
    const parts = Array.from({ length: 30 }, (_v, at) => ({ name: `f${at}`, content: randomBytes(200_000) }))
    const archive = rawZip(parts.toReversed())
    const ranges: number[] = []
    const counting: ObjectStore = {
      ...test.objects,
      getRange: (key, range) => {
        ranges.push(range.end - range.start)
        return test.objects.getRange(key, range)
      },
      getStream: () => {
        throw new Error('a zip is not read as a stream')
      },
    }
    expect(await take(archive, counting)).toMatchObject({ files: 30, bytes: 6_000_000 })
    expect(Math.max(...ranges)).toBe(1024 * 1024)
    expect(ranges.length).toBeLessThanOrEqual(archive.length / 1024 ** 2 + 3)
  })

  it('stops with the reason of the abort', async () => {
    const abort = new AbortController()
    const stopping: ObjectStore = {
      ...test.objects,
      put: async (key, body, options) => {
        abort.abort(new Error('shutting down'))
        await test.objects.put(key, body, options)
      },
    }
    await expect(take(systemTar('.'), stopping, abort.signal)).rejects.toThrow('shutting down')
  })

  it('stops with the reason of the abort also within a content of a zip', async () => {
    const abort = new AbortController()
    const reason = new Error('shutting down')
    const archive = rawZip([{ name: 'large.bin', content: randomBytes(3_000_000) }])
    let asked = 0
    const stopping: ObjectStore = {
      ...test.objects,
      getRange: async (key, range) => {
        asked += 1
        if (asked === 3) abort.abort(reason)
        return test.objects.getRange(key, range)
      },
    }
    await expect(take(archive, stopping, abort.signal)).rejects.toBe(reason)
  })

  it('stores no snapshot when it is aborted while its folders are stored', async () => {
    const abort = new AbortController()
    const puts: string[] = []
    const stopping: ObjectStore = {
      ...test.objects,
      put: async (key, body, options) => {
        puts.push(key)
        if (key.includes('/trees/')) abort.abort(new Error('not wanted'))
        await test.objects.put(key, body, options)
      },
    }
    await expect(take(systemTar('.'), stopping, abort.signal)).rejects.toThrow('not wanted')
    expect(puts.filter((key) => key.includes('/trees/'))).toHaveLength(1)
    expect(puts.filter((key) => key.includes('/snapshots/'))).toEqual([])
  })

  it('fails with the store’s error when a blob cannot be stored, and stores no snapshot', async () => {
    const puts: string[] = []
    const failing: ObjectStore = {
      ...test.objects,
      put: async (key) => {
        puts.push(key)
        await test.objects.get('no such object')
      },
    }
    await expect(take(systemTar('.'), failing)).rejects.toMatchObject({ code: 'STORE_003' })
    expect(puts.filter((key) => !key.includes('/blobs/'))).toEqual([])
  })
})

describe('files that are secrets by their names', () => {
  it('are skipped with that reason, under all their names, and not stored, unless they are asked for', async () => {
    const content = `TOKEN=${randomBytes(16).toString('hex')}\n`
    const files = { '.env': content, '.env.example': 'TOKEN=\n', 'deploy/server.pem': content, 'a.py': 'x = 1\n' }
    const folder = await mkdtemp(join(root, 'secrets-'))
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    await link(join(folder, '.env'), join(folder, 'zz-settings.txt'))
    const archive = execFileSync('tar', ['-c', '--sort=name', '-C', folder, '.'])
    const { snapshotId, skipped } = await take(archive)
    const view = await readSnapshot(test.objects, test.project, snapshotId)
    expect(view.files.map(({ path }) => path)).toEqual(['.env.example', 'a.py'])
    expect(skipped.map(({ path, reason }) => `${path}: ${reason}`).toSorted()).toEqual([
      '.env: a secret by its name',
      'deploy/server.pem: a secret by its name',
      'zz-settings.txt: a secret by its name',
    ])
    expect(await test.objects.exists(objectKeys.blob(test.project, sha256(content)))).toBe(false)

    const asked = await take(archive, test.objects, AbortSignal.timeout(20_000), ['secrets'])
    expect(asked).toMatchObject({ files: 5, skipped: [] })
  })
})

it('a snapshot lists what the client has left out, unless the archive says otherwise', async () => {
  const uploadKey = objectKeys.upload(test.project, 'r00000notsent')
  await test.objects.put(uploadKey, systemTar('.'))
  const blobs = openBlobStore(test.objects, { maxCacheBytes: 0 })
  const reason = 'a secret by its name'
  const paths = ['src/.env', 'src/a.py', 'src/a.py/inside', 'src', 'current', '.git', 'big.bin', 'big.bin']
  const hash = await putNotSentFiles(
    blobs,
    test.project,
    paths.map((path) => ({ path, reason })),
  )
  const request = { notSent: { hash, count: paths.length } }
  const job = { projectId: test.project, runId: 'r00000notsent', uploadKey, request }
  const deps = { objects: test.objects, blobs, limits: defaultSnapshotLimits }
  const { snapshotId, skipped } = await takeSnapshot(job, deps, AbortSignal.timeout(20_000))
  expect(skipped).toEqual([
    { path: '.git', reason: "Git's own data" },
    { path: 'big.bin', reason },
    { path: 'src/.env', reason },
  ])
  expect((await readSnapshot(test.objects, test.project, snapshotId)).skipped).toEqual(skipped)
})
