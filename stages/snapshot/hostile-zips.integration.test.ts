import { randomBytes } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import { rawZip, type RawZipEntry, type RawZipOptions, zip64Field } from './raw-zip.fixture.ts'
import { defaultSnapshotLimits, type SnapshotLimits } from './snapshot-limits.ts'
import { takeSnapshot } from './take-snapshot.ts'

const test = useOpened(testObjects)

async function take(archive: Uint8Array, limits: Partial<SnapshotLimits> = {}) {
  const runId = `r${randomBytes(8).toString('hex')}`
  const uploadKey = objectKeys.upload(test.project, runId)
  await test.objects.put(uploadKey, archive)
  const blobs = openBlobStore(test.objects, { maxCacheBytes: 0 })
  const deps = { objects: test.objects, blobs, limits: { ...defaultSnapshotLimits, ...limits } }
  return takeSnapshot({ projectId: test.project, runId, uploadKey }, deps, AbortSignal.timeout(20_000))
}

const good: RawZipEntry = { name: 'good.py', content: 'x = 1\n' }
const text = 'a line of text\n'.repeat(400)
const several = rawZip([good, { name: 'more.py', content: text }])
const symlink = (name: string, target: string): RawZipEntry => ({ name, content: target, mode: 0o120777 })
const encrypted = { flags: 0x801 }
const descriptor = { flags: 0x808 }

function flipped(archive: Buffer, at: number): Buffer {
  const copy = Buffer.from(archive)
  copy[at] = (copy[at] ?? 0) ^ 0xff
  return copy
}

/** Each entry names itself and, as its content, all that follow: David Fifield's bomb, whose files share one kernel. */
function overlapping(): Buffer {
  const kernel: RawZipEntry = { name: 'kernel', content: new Uint8Array(60_000) }
  return rawZip([kernel, ...['b', 'c', 'd'].map((name) => ({ ...kernel, name, unplaced: true, central: { at: 0 } }))])
}

/** The first entry's stored content is the whole second one, with its record. */
function nested(): Buffer {
  const inner = rawZip([good]).subarray(0, 30 + 'good.py'.length + deflateRawSync('x = 1\n').length)
  const outer = { name: 'outer', content: inner, method: 0 }
  return rawZip([outer, { ...good, unplaced: true, central: { at: 30 + 'outer'.length } }])
}

const unreadable: [string, Buffer][] = [
  ['four bytes', Buffer.from('PK\x03\x04')],
  ['a first record and then nothing', Buffer.from('PK\x03\x04'.padEnd(2000, '\0'))],
  ['cut within its contents', several.subarray(0, 60)],
  ['cut within its directory', several.subarray(0, several.length - 60)],
  ['cut within its last record', several.subarray(0, several.length - 3)],
  ['without its first bytes', several.subarray(8)],
  ['with something after its end', rawZip([good], { after: Buffer.from('more') })],
  ['with an end inside its comment', rawZip([good], { comment: `x${rawZip([]).toString('latin1')}y` })],
  ['moved, so that its places are wrong', rawZip([good], { before: Buffer.from('PK\x03\x04'), directoryAt: 3 })],
  ['a directory behind the end', rawZip([good], { directoryAt: 5_000_000 })],
  ['a directory behind the end, in zip64', rawZip([good], { zip64: true, directoryAt: 2 ** 52 })],
  ['fewer entries than it counts', rawZip([good], { count: 2 })],
  ['more entries than it counts', rawZip([good, { ...good, name: 'b' }], { count: 1 })],
  ['entries, and says it has none', rawZip([good], { count: 0 })],
  ['one disk of several', rawZip([good], { disk: 2 })],
  ['an encrypted file', rawZip([{ ...good, local: encrypted, central: encrypted }])],
  ['a file that only its own record calls encrypted', rawZip([{ ...good, local: encrypted }])],
  ['an AES-encrypted file', rawZip([{ ...good, method: 99, local: encrypted, central: encrypted }])],
  ['a file packed by bzip2', rawZip([{ ...good, method: 12 }])],
  ['a file packed by LZMA', rawZip([{ ...good, method: 14 }])],
  ['a file packed by an unknown method', rawZip([{ ...good, method: 77 }])],
  ['a wrong CRC-32', rawZip([{ ...good, local: { crc: 1 }, central: { crc: 1 } }])],
  ['a stored file with a flipped byte', flipped(rawZip([{ ...good, method: 0 }]), 30 + 7)],
  ['a deflated file that is not deflated', rawZip([{ ...good, packed: Buffer.from('no deflate at all') }])],
  ['a deflated file cut short', rawZip([{ name: 'a', content: text, packed: deflateRawSync(text).subarray(0, 20) }])],
  [
    'packed bytes that nothing unpacks',
    rawZip([{ ...good, packed: Buffer.concat([deflateRawSync('x = 1\n'), several]) }]),
  ],
  ['a size that is too small', rawZip([{ ...good, local: { size: 2 }, central: { size: 2 } }])],
  ['a size that is too large', rawZip([{ ...good, local: { size: 900 }, central: { size: 900 } }])],
  ['a stored size that is not the packed one', rawZip([{ ...good, method: 0, central: { size: 5 } }])],
  ['a packed size beyond the end', rawZip([{ ...good, central: { packed: 90_000 }, local: descriptor }])],
  ['two names for one file', rawZip([{ ...good, local: { name: 'evil.py' } }])],
  ['two methods for one file', rawZip([{ ...good, local: { method: 0 } }])],
  ['two sizes for one file', rawZip([{ ...good, local: { size: 7 } }])],
  ['two checksums for one file', rawZip([{ ...good, local: { crc: 7 } }])],
  ['two entries on one content', overlapping()],
  ['an entry inside another one', nested()],
  ['a content that reaches into the directory', rawZip([{ ...good, central: { packed: 30 }, local: { packed: 30 } }])],
  ['a place within a content', rawZip([{ name: 'a', content: text, method: 0, central: { at: 40 } }])],
  ['a link with the name of a folder', rawZip([{ ...symlink('a/', 'b') }])],
  ['a broken extra field', rawZip([{ ...good, central: { extra: Buffer.from('\x01\x00\xff\x00x') } }])],
  ['a zip64 size without its field', rawZip([{ ...good, central: { size: 0xffffffff, extra: zip64Field() } }])],
]

const unsafe: [string, RawZipEntry[]][] = [
  ['an absolute path', [{ ...good, name: '/etc/passwd' }]],
  ['a path that leads out', [{ ...good, name: '../out.py' }]],
  ['a NUL in a name', [{ ...good, name: 'good.py\0.txt' }]],
  ['no name at all', [{ ...good, name: '' }]],
  ['a file behind a link that leads out', [symlink('l', '/etc'), { ...good, name: 'l/passwd' }]],
  ['a link to nowhere', [symlink('l', '')]],
  ['a link to a path of 5,000 bytes', [symlink('l', 'x/'.repeat(2500))]],
  ['a link of a billion bytes', [{ ...symlink('l', 'x'), local: { size: 1e9 }, central: { size: 1e9 } }]],
  ['a character device', [{ name: 'null', mode: 0o20666 }]],
  ['a socket', [{ name: 'socket', mode: 0o140644 }]],
  ['a file twice', [good, good]],
]

describe('a zip that cannot be read, or says two things, is refused with INTAKE_001', () => {
  it.each(unreadable)('%s', async (_name, archive) => {
    await expect(take(archive)).rejects.toMatchObject({ code: 'INTAKE_001' })
  })
})

describe('an unsafe zip is refused with INTAKE_002', () => {
  it.each(unsafe)('%s', async (_name, entries) => {
    await expect(take(rawZip(entries), { ratioFromBytes: Infinity })).rejects.toMatchObject({ code: 'INTAKE_002' })
  })
})

describe('a zip over a limit is refused with INTAKE_003', () => {
  const names = (count: number) => Array.from({ length: count }, (_value, at) => ({ name: `f${at}`, content: 'x' }))
  const claim = { size: 60e6 }
  const zeros = { name: 'zeros', content: new Uint8Array(12_000_000) }

  it.each<[string, Buffer, Partial<SnapshotLimits>]>([
    ['too many entries', rawZip(names(11)), { maxEntries: 10 }],
    ['too many folders', rawZip(names(11).map(({ name }) => ({ name: `${name}/` }))), { maxEntries: 10 }],
    ['a count of a thousand million million', rawZip([good], { zip64: true, count: 1e15 }), {}],
    ['more folders above its files than may be', rawZip([{ ...good, name: `${'d/'.repeat(20)}x` }]), { maxPaths: 20 }],
    ['too many bytes of names', rawZip(names(100)), { maxNameBytes: 250 }],
    ['one file too large', rawZip([{ ...good, content: 'x'.repeat(1001) }]), { maxFileBytes: 1000 }],
    ['too many bytes together', rawZip(names(100)), { maxBytes: 99 }],
    ['a bomb', rawZip([zeros]), {}],
    [
      'many small bombs',
      rawZip(Array.from({ length: 30 }, (_v, at) => ({ name: `${at}`, content: Buffer.alloc(400_000) }))),
      {},
    ],
    ['the claim of a bomb', rawZip([{ ...good, local: claim, central: claim }]), {}],
    ['65 folders deep', rawZip([{ ...good, name: `${'d/'.repeat(64)}x` }]), {}],
  ])('%s', async (_name, archive, limits) => {
    await expect(take(archive, limits)).rejects.toMatchObject({ code: 'INTAKE_003' })
  })

  it('and one just below each limit is taken', async () => {
    const entries = [
      { ...good, name: `${'é'.repeat(127)}/`.repeat(4) + 'x' },
      { ...good, name: `${'d/'.repeat(63)}x` },
    ]
    const limits = { maxEntries: 2, maxPaths: 69, maxFileBytes: 6, maxBytes: 12 }
    expect(await take(rawZip(entries), limits)).toMatchObject({ files: 2 })
  })
})

describe('an unusual zip is read all the same', () => {
  const zip64 = { size: 0xffffffff, packed: 0xffffffff, extra: zip64Field(6, 6) }
  const unknownSize = { ...descriptor, crc: 0, packed: 0, size: 0 }
  const behind = Buffer.from('PK\x07\x08 sixteen bytes')

  const sizedFolder = { name: 'a/', mode: 0o40755, method: 0, local: { size: 4096 }, central: { size: 4096 } }

  it.each<[string, RawZipEntry[], RawZipOptions]>([
    ['with a comment', [good], { comment: 'made by hand' }],
    ['with a gap before its first entry', [good], { before: Buffer.from('PK\x03\x04 and so on') }],
    ['with counts and places in zip64', [good], { zip64: true }],
    ['with sizes in zip64', [{ ...good, method: 0, local: zip64, central: zip64 }], {}],
    ['with sizes behind the content', [{ ...good, local: unknownSize, after: behind, central: descriptor }], {}],
    ['with a name that no flag calls UTF-8', [{ ...good, central: { flags: 0 }, local: { flags: 0 } }], {}],
    ['with a folder that has the mode of a file', [{ name: 'a/', mode: 0o100755 }, good], {}],
    ['with a folder that has a content', [{ name: 'a/', content: 'x', mode: 0o40755 }, good], {}],
    ['with the size of a folder on disk', [sizedFolder, { ...good, name: 'a/good.py' }], {}],
    ['with two sizes of a folder', [{ ...sizedFolder, local: { size: 0 } }, good], {}],
    ['made on DOS', [{ ...good, system: 0, mode: 0x20 }], {}],
  ])('%s', async (_name, entries, options: RawZipOptions) => {
    expect(await take(rawZip(entries, options))).toMatchObject({ files: 1, bytes: 6 })
  })

  it('and lists what it passes over: names that are not UTF-8, and the data of Git', async () => {
    const name = Buffer.from('caf\xe9.py', 'latin1')
    const taken = await take(rawZip([good, { ...good, name }, { ...good, name: '.git/HEAD' }]))
    expect(taken.files).toBe(1)
    expect(taken.skipped).toEqual([
      { path: 'caf\uFFFD.py', reason: 'the name is not UTF-8' },
      { path: '.git', reason: "Git's own data" },
    ])
  })

  it('and holds nothing when it is empty', async () => {
    expect(await take(rawZip([]))).toMatchObject({ files: 0, bytes: 0 })
    expect(await take(rawZip([], { zip64: true }))).toMatchObject({ files: 0, bytes: 0 })
  })
})
