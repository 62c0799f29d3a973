import { gzipSync } from 'node:zlib'
import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { admitEntry, emptyContents, filesOf } from './archive-contents.ts'
import { archiveEntries } from './archive-entries.ts'
import { paxRecord, rawTar } from './raw-tar.fixture.ts'
import { rawZip, zip64Field } from './raw-zip.fixture.ts'
import { defaultSnapshotLimits } from './snapshot-limits.ts'

const text = 'def f(x):\n    return x\n'.repeat(60)
const tar = rawTar([
  { name: 'a/', type: '5' },
  { name: 'a/b.py', content: text },
  { name: 'l', type: '2', target: 'a/b.py' },
  { name: 'h', type: '1', target: 'a/b.py' },
  paxRecord('path', `long/${'d/'.repeat(40)}x.py`),
  { name: 'x', content: 'x = 1\n' },
])
const entries = [
  { name: 'a/', mode: 0o40755, method: 0 },
  { name: 'a/b.py', content: text },
  { name: 'l', content: 'a/b.py', mode: 0o120777, method: 0 },
  { name: 'run.sh', content: '#!/bin/sh\n', mode: 0o100755 },
]
const large = { size: 0xffffffff, packed: 0xffffffff, extra: zip64Field(6, 6) }
const wide = { name: 'w', content: 'x = 1\n', method: 0, local: large, central: large }
const whole: readonly Buffer[] = [
  tar,
  gzipSync(tar),
  rawZip(entries, { comment: 'made by hand' }),
  rawZip([...entries, wide], { zip64: true }),
]

/** As `takeSnapshot` reads an upload, without the stores. */
async function readAll(archive: Uint8Array): Promise<number> {
  const source = {
    bytes: archive.length,
    async *stream() {
      for (let at = 0; at < archive.length; at += 700) yield archive.subarray(at, at + 700)
    },
    range: async ({ start, end }: { start: number; end: number }) => archive.subarray(start, end),
  }
  const contents = emptyContents(defaultSnapshotLimits)
  for await (const entry of archiveEntries(source, defaultSnapshotLimits, AbortSignal.timeout(10_000))) {
    const path = admitEntry(entry, contents, { limits: defaultSnapshotLimits, include: [] })
    if (path === undefined) continue
    const { length } = await entry.read()
    contents.files.set(path, { path, hash: '', size: length, executable: entry.executable })
  }
  return filesOf(contents).length
}

/** The code that it is refused with; any other error is returned unchanged. */
async function answerTo(archive: Uint8Array): Promise<string> {
  try {
    await readAll(archive)
    return 'read'
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}

type Damage = { at: number; bytes: Uint8Array } | { cutAt: number } | { from: number; to: number }

const place = fc.double({ min: 0, max: 1, noNaN: true })
/** Values that mean something in a size, a place or a count, and others. */
const bytes = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 4 }),
  fc.constantFrom(
    ...['00000000', 'ffffffff', '01000000', 'feff', 'ffff', '0800', '0100'].map((hex) => Buffer.from(hex, 'hex')),
  ),
)
const damage: fc.Arbitrary<Damage> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ at: place, bytes }) },
  { weight: 1, arbitrary: fc.record({ cutAt: place }) },
  { weight: 1, arbitrary: fc.record({ from: place, to: place }) },
)

function damaged(archive: Buffer, faults: readonly Damage[]): Buffer {
  let result = Buffer.from(archive)
  for (const fault of faults) {
    const at = (share: number) => Math.floor(share * result.length)
    if ('cutAt' in fault) result = result.subarray(0, at(fault.cutAt))
    else if ('from' in fault)
      result = Buffer.concat([result.subarray(0, at(fault.from)), result.subarray(at(fault.to))])
    else result.set(fault.bytes.slice(0, result.length - at(fault.at)), at(fault.at))
  }
  return result
}

describe('a damaged archive', () => {
  it.each(['a tar', 'a gzipped tar', 'a zip', 'a zip64'].map((name, at) => [name, at] as const))(
    'that was %s is read or refused with an INTAKE code, whatever is wrong with it',
    async (_name, at) => {
      const archive = whole[at] ?? Buffer.of()
      expect(await readAll(archive)).toBeGreaterThanOrEqual(2)
      const answers = new Set<string>()
      const property = fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (faults) => {
        const answer = await answerTo(damaged(archive, faults))
        expect(answer).toMatch(/^(?:read|INTAKE_00[123])$/)
        answers.add(answer)
      })
      await fc.assert(property, { numRuns: draws(1000) })
      expect([...answers].toSorted()).toEqual(expect.arrayContaining(['INTAKE_001', 'read']))
    },
    60_000,
  )
})
