import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3'
import { readUpload } from './object-store.ts'

/** S3 takes no part but the last below 5 MiB, and at most 10,000 of them: up to 48 GiB. */
const partBytes = 5 * 1024 * 1024

export type UploadTarget = { Bucket: string; Key: string; ContentType: string }

/** One PUT for what fits in a part, else a multipart upload that is aborted when anything fails. Returns the number of bytes. */
export async function uploadStream(
  client: S3Client,
  target: UploadTarget,
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<number> {
  const parts = splitIntoParts(source, maxBytes)
  const first = await parts.next()
  const head = first.done === true ? new Uint8Array() : first.value
  const second = await parts.next()
  if (second.done === true) {
    await client.send(new PutObjectCommand({ ...target, Body: head }))
    return head.length
  }
  return uploadParts(client, target, [head, second.value], parts)
}

async function uploadParts(
  client: S3Client,
  target: UploadTarget,
  held: Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): Promise<number> {
  const { Bucket, Key } = target
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target))
  const sent: CompletedPart[] = []
  let bytes = 0
  const send = async (part: Uint8Array) => {
    const PartNumber = sent.length + 1
    const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body: part }))
    sent.push({ PartNumber, ...(ETag === undefined ? {} : { ETag }) })
    bytes += part.length
  }
  try {
    for (let part = held.shift(); part !== undefined; part = held.shift()) await send(part)
    for await (const part of rest) await send(part)
    const MultipartUpload = { Parts: sent }
    await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }))
    return bytes
  } catch (error) {
    // Best effort: the fault that matters is the one being thrown, and the bucket's lifecycle drops stale uploads.
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => {})
    throw error
  }
}

async function* splitIntoParts(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array, void> {
  let held: Uint8Array[] = []
  let heldBytes = 0
  for await (const chunk of readUpload(source, maxBytes)) {
    held.push(chunk)
    heldBytes += chunk.length
    if (heldBytes < partBytes) continue
    yield Buffer.concat(held, heldBytes)
    held = []
    heldBytes = 0
  }
  if (heldBytes > 0) yield Buffer.concat(held, heldBytes)
}
