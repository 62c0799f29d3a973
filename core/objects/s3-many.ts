import { DeleteObjectsCommand, ListObjectsCommand, type S3Client } from '@aws-sdk/client-s3'
import { AppError } from '#domain/error.ts'
import type { ListedObject } from './object-store.ts'
import { s3Error } from './s3-error.ts'

/** As many as S3 takes. */
const keysPerDelete = 1_000

/**
 * Pages by the last key seen. That is the first version of the request, which every S3 still answers: the embedded
 * server cannot make the second one's token on a current OpenSSL.
 */
export async function* listObjects(
  client: S3Client,
  place: { Bucket: string; Prefix: string },
  signal?: AbortSignal,
): AsyncGenerator<ListedObject> {
  let last: string | undefined
  for (;;) {
    const page = new ListObjectsCommand({ ...place, ...(last === undefined ? {} : { Marker: last }) })
    const { Contents = [], IsTruncated = false } = await client
      .send(page, signal === undefined ? {} : { abortSignal: signal })
      .catch((error: unknown) => {
        throw s3Error(error, `list ${place.Prefix}`, signal)
      })
    for (const { Key, LastModified, Size } of Contents) {
      if (Key === undefined || LastModified === undefined) {
        throw new AppError('STORE_002', `object store: list ${place.Prefix}: an entry without key or time`)
      }
      yield { key: Key, lastModified: LastModified.getTime(), bytes: Size ?? 0 }
      last = Key
    }
    if (!IsTruncated || Contents.length === 0) return
  }
}

/** STORE_002 also when the store answers that it could not delete some of them. */
export async function deleteObjects(
  client: S3Client,
  Bucket: string,
  keys: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  for (let first = 0; first < keys.length; first += keysPerDelete) {
    const slice = keys.slice(first, first + keysPerDelete)
    const Delete = { Quiet: true, Objects: slice.map((Key) => ({ Key })) }
    const { Errors = [] } = await client
      .send(new DeleteObjectsCommand({ Bucket, Delete }), signal === undefined ? {} : { abortSignal: signal })
      .catch((error: unknown) => {
        throw s3Error(error, `delete ${slice.length} objects`, signal)
      })
    const [fault] = Errors
    if (fault !== undefined) {
      const reason = `${fault.Code ?? 'no code'} for ${fault.Key ?? 'a key'}`
      throw new AppError(
        'STORE_002',
        `object store: ${Errors.length} of ${slice.length} objects not deleted: ${reason}`,
      )
    }
  }
}
