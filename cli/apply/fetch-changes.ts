import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { AppError } from '#domain/error.ts'
import { isGitFolder, parseRepoPath, type RepoPath } from '#domain/repo-path.ts'
import type { PatchKind } from '#domain/run.ts'
import type { ApiClient } from '../api-client.ts'

/** Holds paths of files in the scratch folder with the bytes `before` and `after`; null where there is no file. */
export type ChangedFile = {
  path: RepoPath
  before: string | null
  after: string | null
  /** Is true for a program after the changes; `changesMode` is true when it was none before, or the other way round. */
  executable: boolean
  changesMode: boolean
}

type Wanted = { runId: string; of: PatchKind; scratch: string }

const tries = 5

/**
 * Returns the files that a run changes, sorted by path, with their bytes before and after in the folder `scratch`; none when it changes
 * nothing. Both sides are of the same decisions: RUN_006 when people decide too quickly for that. INTAKE_002 for a path that no
 * repository has, INTAKE_001 for an archive that breaks off. Nothing that comes from the service names a file in `scratch`.
 */
export async function fetchChanges(
  client: Pick<ApiClient, 'readChangedFiles'>,
  wanted: Wanted,
): Promise<ChangedFile[]> {
  for (let tried = 0; tried < tries; tried++) {
    const after = await fetchSide(client, 'after', wanted)
    if (after === undefined) return []
    const before = await fetchSide(client, 'before', wanted)
    const isSame = after.composition !== undefined && before?.composition === after.composition
    if (before !== undefined && isSame) return paired(before.files, after.files)
  }
  throw new AppError('RUN_006', `The changes of run ${wanted.runId} change while they are read: try again in a moment.`)
}

type Unpacked = { file: string; executable: boolean }
type Side = { composition: string | undefined; files: ReadonlyMap<RepoPath, Unpacked> }

async function fetchSide(
  client: Pick<ApiClient, 'readChangedFiles'>,
  side: 'before' | 'after',
  { runId, of, scratch }: Wanted,
): Promise<Side | undefined> {
  const streamed = await client.readChangedFiles(runId, { of, side })
  if (streamed === undefined) return undefined
  const { body, composition } = streamed
  try {
    return { composition, files: await unpack(body, (number) => join(scratch, `${side}-${number}`)) }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    const words = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('INTAKE_001', `the files of run ${runId} cannot be read: ${words}`, { cause })
  }
}

/** Every entry becomes a file with a number for its name, since a path of an archive must not choose where it is written. */
async function unpack(
  archive: AsyncIterable<Uint8Array>,
  fileOf: (number: number) => string,
): Promise<Map<RepoPath, Unpacked>> {
  const files = new Map<RepoPath, Unpacked>()
  const bytes = ReadableStream.from(archive).pipeThrough(new DecompressionStream('gzip'))
  for await (const entry of bytes.pipeThrough(createTarDecoder({ strict: true }))) {
    const { name, type, mode = 0 } = entry.header
    const path = pathInRepository(name)
    if (type !== 'file' || files.has(path)) {
      const fault = type === 'file' ? 'is there twice' : `is a ${type}, not a file`
      throw new AppError('INTAKE_002', `the service sent what is not written: ${JSON.stringify(path)} ${fault}`)
    }
    const file = fileOf(files.size)
    await save(entry, file)
    const { size } = await stat(file)
    if (size !== entry.header.size) throw new Error(`${path} has ${size} bytes, not ${entry.header.size}`)
    files.set(path, { file, executable: (mode & 0o100) !== 0 })
  }
  return files
}

async function save({ body }: ParsedTarEntry, file: string): Promise<void> {
  await using opened = await open(file, 'w')
  for await (const chunk of body) await opened.appendFile(chunk)
}

function pathInRepository(name: string): RepoPath {
  const path = parseRepoPath(name, 'INTAKE_002')
  const isHistory = path.split('/').some(isGitFolder)
  if (path === name && !isHistory) return path
  const fault = isHistory ? 'leads into the history of a checkout' : 'is not in normal form'
  throw new AppError('INTAKE_002', `path ${JSON.stringify(name.slice(0, 200))} ${fault}`)
}

function paired(before: Side['files'], after: Side['files']): ChangedFile[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return paths.map((path) => ({
    path,
    before: before.get(path)?.file ?? null,
    after: after.get(path)?.file ?? null,
    executable: after.get(path)?.executable === true,
    changesMode: before.has(path) && after.has(path) && before.get(path)?.executable !== after.get(path)?.executable,
  }))
}
