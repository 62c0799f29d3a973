import { z } from 'zod'
import { RunId } from '#domain/ids.ts'
import { CommitId } from '#domain/repository-source.ts'

export const readAccessPath = '/v1/read-access'

/** `commit` is that of an earlier answer for the run, or of its request; the answer is about the same one. */
export const ReadAccessRequest = z.strictObject({ run_id: RunId, commit: CommitId.optional() })
export type ReadAccessRequest = z.infer<typeof ReadAccessRequest>

/** A gzipped tar with one folder at its top. The headers are secret: they stay in memory, and go to the origin of `url` only. */
export const ReadableArchive = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string(), z.string()),
})
export type ReadableArchive = z.infer<typeof ReadableArchive>

const ReadableCommit = z.strictObject({ commit: CommitId, archive: ReadableArchive })

/** `base` is the commit of the request's `since`, where it has one that the code host still has. */
export const ReadAccess = ReadableCommit.extend({ base: ReadableCommit.nullable() })
export type ReadAccess = z.infer<typeof ReadAccess>

const refusals = ['HOST_001', 'HOST_002', 'HOST_003', 'HOST_004', 'PUBLISH_005', 'RUN_001'] as const

/** The publisher answers this instead, with the status of the code. */
export const ReadAccessRefusal = z.strictObject({ error_code: z.enum(refusals), detail: z.string() })
export type ReadAccessRefusal = z.infer<typeof ReadAccessRefusal>
