import { fileURLToPath } from 'node:url'
import type { ObjectStore } from './object-store.ts'
import type { S3Options } from './s3-object-store.ts'

/** Opens the store at `endpoint`: the folder that a `file:` URL names, else a bucket. The S3 client is loaded for a bucket only. */
export async function openObjects(options: S3Options): Promise<ObjectStore> {
  if (options.endpoint?.startsWith('file:') === true) {
    const { openFolderObjectStore } = await import('./folder-object-store.ts')
    return openFolderObjectStore(fileURLToPath(options.endpoint))
  }
  const { openS3ObjectStore } = await import('./s3-object-store.ts')
  return openS3ObjectStore(options)
}
