import { S3ServiceException } from '@aws-sdk/client-s3'
import { AppError } from '#domain/error.ts'

/** What a failed S3 request means to us: STORE_003 for an object that is not there, STORE_002 for everything else. */
export function s3Error(error: unknown, key: string, signal?: AbortSignal): unknown {
  if (error instanceof AppError) return error
  if (signal?.aborted === true) return signal.reason
  if (isMissing(error)) return new AppError('STORE_003', `object ${key} is missing`, { cause: error })
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return new AppError('STORE_002', `object store: ${key}: ${message}`, { cause: error })
}

/** A missing bucket is the operator's to mend, not a missing object. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof S3ServiceException) || error.name === 'NoSuchBucket') return false
  return error.name === 'NoSuchKey' || error.name === 'NotFound' || error.$metadata.httpStatusCode === 404
}
