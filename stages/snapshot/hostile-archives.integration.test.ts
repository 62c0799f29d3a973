import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import { paxRecord, rawTar, type RawEntry } from './raw-tar.fixture.ts'
import { defaultSnapshotLimits, type SnapshotLimits } from './snapshot-limits.ts'
import { takeSnapshot } from './take-snapshot.ts'

const test = useOpened(testObjects)

const runId = 'r00000000test'

async function take(archive: Uint8Array, limits: Partial<SnapshotLimits> = {}) {
  const uploadKey = objectKeys.upload(test.project, `${runId}${Math.random().toString(36).slice(2)}`)
  await test.objects.put(uploadKey, archive)
  const blobs = openBlobStore(test.objects, { maxCacheBytes: 0 })
  const deps = { objects: test.objects, blobs, limits: { ...defaultSnapshotLimits, ...limits } }
  return takeSnapshot({ projectId: test.project, runId, uploadKey }, deps, AbortSignal.timeout(20_000))
}

const good: RawEntry = { name: 'good.py', content: 'x = 1\n' }
const several = rawTar([good, { name: 'more.py', content: 'y'.repeat(5000) }])

const damagedHeader = Buffer.from(several)
damagedHeader[3] = 0x7a
const damagedGzip = gzipSync(several)
damagedGzip[damagedGzip.length >> 1] = (damagedGzip[damagedGzip.length >> 1] ?? 0) ^ 0xff

const unreadable: [string, Uint8Array][] = [
  ['nothing at all', new Uint8Array()],
  ['a text', Buffer.from('hello\n'.repeat(500))],
  ['a zip', Buffer.from('PK\x03\x04'.padEnd(2000, '\0'))],
  ['a gzip of a text', gzipSync('hello\n'.repeat(500))],
  ['a gzip of nothing', gzipSync('')],
  ['a header with a wrong checksum', damagedHeader],
  ['a tar cut within a file', several.subarray(0, 3000)],
  ['a tar cut within a header', several.subarray(0, 1200)],
  ['a tar without its end', rawTar([good], { end: false })],
  ['a tar with something after its end', Buffer.concat([rawTar([good]), Buffer.from('more'.repeat(200))])],
  ['a gzip cut short', gzipSync(several).subarray(0, 60)],
  ['a gzip with a flipped byte', damagedGzip],
  ['a gzip with something after its end', Buffer.concat([gzipSync(several), Buffer.from('more'.repeat(200))])],
  ['a file that claims more bytes than there are', rawTar([{ ...good, size: 60_000 }])],
  ['a sparse file', rawTar([paxRecord('GNU.sparse.major', '1'), good])],
]

const unsafe: [string, RawEntry[]][] = [
  ['an absolute path', [{ name: '/etc/passwd', content: 'x' }]],
  ['a path that leads out', [{ name: '../out.py', content: 'x' }]],
  ['a path that leads out further down', [{ name: 'a/../../out.py', content: 'x' }]],
  ['a path that leads out and back', [{ name: 'a/../b.py', content: 'x' }]],
  ['a folder that leads out', [{ name: '../', type: '5' }]],
  ['a long path that leads out', [paxRecord('path', `${'a/'.repeat(80)}../${'../'.repeat(80)}x`), good]],
  ['a NUL in a long path', [paxRecord('path', 'good.py\0.txt'), good]],
  ['a NUL in a long link', [paxRecord('linkpath', 'a\0b'), { name: 'l', type: '2' }]],
  ['a backslash', [{ name: 'a\\..\\..\\b', content: 'x' }]],
  ['a character device', [{ name: 'null', type: '3' }]],
  ['a block device', [{ name: 'disk', type: '4' }]],
  ['a pipe', [{ name: 'pipe', type: '6' }]],
  [
    'a file behind a link that leads out',
    [
      { name: 'l', type: '2', target: '/etc' },
      { name: 'l/passwd', content: 'x' },
    ],
  ],
  ['a link to nowhere', [{ name: 'l', type: '2' }]],
  [
    'a file behind a link',
    [
      { name: 'l', type: '2', target: '.' },
      { name: 'l/x.py', content: 'x' },
    ],
  ],
  [
    'a link in the place of a folder',
    [
      { name: 'a/x.py', content: 'x' },
      { name: 'a', type: '2', target: 'b' },
    ],
  ],
  [
    'a file in the place of a folder',
    [
      { name: 'a', type: '5' },
      { name: 'a', content: 'x' },
    ],
  ],
  [
    'a file that is a folder too',
    [
      { name: 'a', content: 'x' },
      { name: 'a/b/c', content: 'x' },
    ],
  ],
  ['a file twice', [good, good]],
  ['a file twice after normalisation', [good, { name: './/good.py', content: 'other' }]],
  ['a hard link to what is not in the archive', [{ name: 'h', type: '1', target: 'other.py' }]],
  [
    'a hard link to a symbolic link',
    [
      { name: 'l', type: '2', target: 'good.py' },
      { name: 'h', type: '1', target: 'l' },
    ],
  ],
]

describe('an archive that cannot be read is refused with INTAKE_001', () => {
  it.each(unreadable)('%s', async (_name, archive) => {
    await expect(take(archive)).rejects.toMatchObject({ code: 'INTAKE_001' })
  })
})

describe('an unsafe archive is refused with INTAKE_002', () => {
  it.each(unsafe)('%s', async (_name, entries) => {
    await expect(take(gzipSync(rawTar(entries)))).rejects.toMatchObject({ code: 'INTAKE_002' })
  })
})

describe.each([
  ['a symbolic link', '2'],
  ['a hard link', '1'],
])('%s that leads out', (_kind, type) => {
  it.each(['/etc/passwd', '../../x', '../..', 'C:\\x', '..\\x'])(
    'to %s is left out with its reason',
    async (target) => {
      const { files, skipped } = await take(rawTar([good, { name: 'a/l', type, target }]))
      expect(files).toBe(1)
      expect(skipped).toEqual([{ path: 'a/l', reason: expect.stringMatching(/outside the repository|no path here/) }])
    },
  )
})

it('the size of a folder says nothing', async () => {
  const folder: RawEntry = { name: 'a/', type: '5', size: 4096 }
  expect(await take(rawTar([folder, { ...good, name: 'a/good.py' }]))).toMatchObject({ files: 1, bytes: 6 })
})

it('a hard link to one that was left out is left out for the same reason', async () => {
  const { files, skipped } = await take(
    rawTar([good, { name: 'h', type: '1', target: '../x' }, { name: 'i', type: '1', target: 'h' }]),
  )
  expect(files).toBe(1)
  const reason = 'a link to "../x", which is outside the repository'
  expect(skipped).toEqual([
    { path: 'h', reason },
    { path: 'i', reason },
  ])
})

describe('an archive over a limit is refused with INTAKE_003', () => {
  const names = (count: number) => Array.from({ length: count }, (_value, at) => ({ name: `f${at}`, content: 'x' }))

  it.each<[string, Uint8Array, Partial<SnapshotLimits>]>([
    ['too many entries', rawTar(names(11)), { maxEntries: 10 }],
    ['too many folders', rawTar(names(11).map(({ name }) => ({ name, type: '5' }))), { maxEntries: 10 }],
    ['one file too large', rawTar([{ name: 'big', content: 'x'.repeat(1001) }]), { maxFileBytes: 1000 }],
    ['a claim of eight gigabytes', rawTar([{ name: 'big', size: 0o77777777777 }]), {}],
    ['too many bytes together', gzipSync(rawTar(names(100))), { maxBytes: 50_000 }],
    ['a bomb', gzipSync(rawTar([{ name: 'zeros', content: new Uint8Array(12_000_000) }])), {}],
    ['65 folders deep', rawTar([paxRecord('path', `${'d/'.repeat(64)}x`), good]), {}],
  ])('%s', async (_name, archive, limits) => {
    await expect(take(archive, limits)).rejects.toMatchObject({ code: 'INTAKE_003' })
  })

  it('and one just below each limit is taken', async () => {
    const entries = [
      paxRecord('path', `${'é'.repeat(127)}/`.repeat(4) + 'x'),
      good,
      paxRecord('path', `${'d/'.repeat(63)}x`),
      good,
    ]
    expect(await take(rawTar(entries), { maxEntries: 2, maxFileBytes: 6, maxBytes: 8192 })).toMatchObject({ files: 2 })
  })
})

describe('a refusal', () => {
  it('of a missing upload is the store’s, not the archive’s', async () => {
    const blobs = openBlobStore(test.objects, { maxCacheBytes: 0 })
    const deps = { objects: test.objects, blobs, limits: defaultSnapshotLimits }
    const job = { projectId: test.project, runId, uploadKey: objectKeys.upload(test.project, 'r00000000none') }
    await expect(takeSnapshot(job, deps, AbortSignal.timeout(20_000))).rejects.toMatchObject({ code: 'STORE_003' })
  })
})
