import { z } from 'zod'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import { byPath } from '#domain/repo-path.ts'
import { NotSentFile, type Run } from '#domain/run.ts'
import type { BlobStore } from './blob-store.ts'

const NotSentFiles = z.strictObject({ v: z.literal(1), files: z.array(NotSentFile) })

/** Stores what a client has left out of its archive as a blob, which a retry refers to as well; returns its hash. */
export function putNotSentFiles(blobs: Pick<BlobStore, 'put'>, projectId: string, files: readonly NotSentFile[]) {
  const sorted = files.map(({ path, reason }) => ({ path, reason })).toSorted(byPath)
  return blobs.put(projectId, Buffer.from(JSON.stringify({ v: 1, files: sorted })))
}

/** Returns the files that the run's request names, sorted by path. Throws STORE_003 when the blob is missing or is not such a list. */
export async function notSentFiles(
  { projectId, request }: Pick<Run, 'projectId'> & { request?: Pick<Run['request'], 'notSent'> | undefined },
  blobs: Pick<BlobStore, 'get'>,
): Promise<readonly SkippedFile[]> {
  if (request?.notSent === undefined) return []
  const { hash } = request.notSent
  const text = Buffer.from(await blobs.get(projectId, hash)).toString()
  const parsed = NotSentFiles.safeParse(parseJson(text))
  if (!parsed.success) throw new AppError('STORE_003', `blob ${hash} is no list of files`, { cause: parsed.error })
  return parsed.data.files
}
