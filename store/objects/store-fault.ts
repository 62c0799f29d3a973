import { z } from 'zod'
import { AppError, hasCode } from '#domain/error.ts'
import type { PartState } from '#platform/readiness.ts'

/** Returns the AppError for a failed S3 request: STORE_003 for a missing object, STORE_002 for everything else. */
export function s3Error(error: unknown, key: string, signal?: AbortSignal): unknown {
  if (error instanceof AppError) return error
  if (signal?.aborted === true) return signal.reason
  if (isMissing(error)) return new AppError('STORE_003', `object ${key} is missing`, { cause: error })
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return new AppError('STORE_002', `object store: ${key}: ${message}`, { cause: error })
}

/** A missing bucket is a fault that the operator must repair, not a missing object. */
export function isMissing(error: unknown): boolean {
  const answer = answerBehind(error)
  if (answer === undefined || answer.code === 'NoSuchBucket') return false
  return answer.code === 'NoSuchKey' || answer.code === 'NotFound' || answer.status === 404
}

/** Returns the error that the AWS client would throw for an answer that it was not asked for. */
export function refusal(code: string | undefined, status: number): Error {
  const name = code ?? `status ${status}`
  return Object.assign(new Error(name), { name, $metadata: { httpStatusCode: status } })
}

/** Servers without room answer these: MinIO (disks, quota), Ceph, Huawei's OBS, RustFS; 507 says the same without a code. */
const fullCodes: ReadonlySet<string> = new Set([
  'XMinioStorageFull',
  'XMinioAdminBucketQuotaExceeded',
  'QuotaExceeded',
  'InsufficientStorageSpace',
  'XRustfsQuotaExceeded',
])

const Answered = z.looseObject({ name: z.string(), $metadata: z.looseObject({ httpStatusCode: z.number() }) })

function answerBehind(error: unknown): { code: string; status: number } | undefined {
  const { data } = Answered.safeParse(error instanceof AppError ? error.cause : error)
  return data && { code: data.name, status: data.$metadata.httpStatusCode }
}

/** What a disk without room says. */
const fullDisk: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT'])

function lacksRoom(error: unknown): boolean {
  if (fullDisk.has(systemCode(error instanceof AppError ? error.cause : error))) return true
  const answer = answerBehind(error)
  return answer !== undefined && (answer.status === 507 || fullCodes.has(answer.code))
}

/** Refusals of a store that is in use again when its keys, its bucket or its load are put right. */
const passingStatuses: ReadonlySet<number> = new Set([401, 403, 404, 408, 429])

/** Is true when the same request succeeds once the store is not away or full: there was no answer, or one not about it alone. */
export function mayPass(error: unknown): boolean {
  if (!hasCode(error, 'STORE_002') || error.cause === undefined) return false
  const answer = answerBehind(error)
  return answer === undefined || answer.status >= 500 || lacksRoom(error) || passingStatuses.has(answer.status)
}

export function stateByFault(error: unknown): PartState {
  if (lacksRoom(error)) return { state: 'full', message: 'it has no room left, and refuses every write' }
  const answer = answerBehind(error)
  if (answer === undefined) return { state: 'away', message: 'it cannot be reached' }
  const { code, status } = answer
  if (code === 'NoSuchBucket') return { state: 'away', message: 'the bucket does not exist' }
  if (status === 401 || status === 403) return { state: 'away', message: `it refuses our keys (${code})` }
  return { state: 'away', message: `it answers ${status} (${code})` }
}

/** Returns the code of a failed call to the system, such as ENOENT. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Remembers whether the last write found no room: reading does not show whether there is some again. */
export function watchRoom() {
  let isLacking = false
  return {
    isLacking: () => isLacking,
    async noted<T>(write: Promise<T>): Promise<T> {
      try {
        const answer = await write
        isLacking = false
        return answer
      } catch (error) {
        if (lacksRoom(error)) isLacking = true
        throw error
      }
    },
  }
}
