import { createHash } from 'node:crypto'
import { AppError } from '#domain/error.ts'
import { sniffArchive, sniffBytes } from '#domain/archive-magic.ts'
import { describeForeign } from '#domain/foreign-archive.ts'

/** The archive again, to be read once; `digest` is the hex SHA-256 of what was read, final when all was. */
export type SniffedArchive = { content: AsyncIterable<Uint8Array>; digest(): string }

/** Reads the first bytes and refuses what is no archive (INTAKE_001) before anything of it is stored. */
export async function sniffed(archive: AsyncIterable<Uint8Array>): Promise<SniffedArchive> {
  const chunks = archive[Symbol.asyncIterator]()
  const head = await readHead(chunks)
  if (sniffArchive(head) === undefined) {
    await chunks.return?.()
    throw new AppError('INTAKE_001', `The archive ${describeForeign(head)}.`)
  }
  const hash = createHash('sha256')
  return { content: measured(head, chunks, (chunk) => hash.update(chunk)), digest: () => hash.copy().digest('hex') }
}

/** Reads an archive to its end without keeping it: a repeated upload is only compared. INTAKE_003 over `maxBytes`. */
export async function drain(content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
  let bytes = 0
  for await (const chunk of content) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new AppError('INTAKE_003', `The archive is larger than ${maxBytes} bytes.`)
  }
}

async function readHead(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const head: Uint8Array[] = []
  for (let bytes = 0; bytes < sniffBytes;) {
    const next = await chunks.next()
    if (next.done === true) break
    head.push(next.value)
    bytes += next.value.length
  }
  return Buffer.concat(head)
}

async function* measured(
  head: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
  see: (chunk: Uint8Array) => void,
): AsyncIterable<Uint8Array> {
  try {
    for (let chunk: Uint8Array | undefined = head; chunk !== undefined; chunk = await nextOf(chunks)) {
      see(chunk)
      yield chunk
    }
  } finally {
    await chunks.return?.()
  }
}

async function nextOf(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  const next = await chunks.next()
  return next.done === true ? undefined : next.value
}
