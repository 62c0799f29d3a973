import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rawTar } from '../../services/discovery/snapshot/raw-tar.fixture.ts'
import { rawZip } from '../../services/discovery/snapshot/raw-zip.fixture.ts'

const mib = 1024 * 1024
const folders = 30
const filesPerFolder = 100
const sourcesPerFolder = 10

export type ArchiveKind = 'tar.gz' | 'zip'

/** What is in the archive: for the record. */
export const contentsText =
  `${folders * filesPerFolder} files of 45 kB that do not compress, one of 63 MiB, and ` +
  `${folders * sourcesPerFolder} Python files of 1 kB`

/** Writes an archive of about 200 MB into `folder` and answers its path. */
export async function writeLargeArchive(folder: string, kind: ArchiveKind): Promise<string> {
  const path = join(folder, `large.${kind}`)
  const files = [{ name: 'large.bin', content: randomBytes(63 * mib) }, ...smallFiles()]
  await writeFile(path, kind === 'zip' ? rawZip(files) : gzipSync(rawTar(files), { level: 1 }))
  return path
}

function smallFiles(): { name: string; content: Buffer }[] {
  const numbers = Array.from({ length: folders * filesPerFolder }, (_value, at) => at)
  return numbers.flatMap((at) => {
    const folder = `part${at % folders}`
    const data = { name: `${folder}/data${at}.bin`, content: randomBytes(45_000) }
    if (Math.floor(at / folders) >= sourcesPerFolder) return [data]
    const source = `def function_${at}(x):\n    return x + ${at}\n`.repeat(25)
    return [data, { name: `${folder}/module${at}.py`, content: Buffer.from(source) }]
  })
}
