/** The part of the embedded S3 server that we use; the package brings no types of its own. */
declare module '@20minutes/s3rver' {
  export type Content = AsyncIterable<Uint8Array> | Uint8Array
  /** `size`: as the request says, which may be more with the signatures of parts; NaN when it does not. */
  export type StoredObject = {
    bucket: string
    key: string
    content: Content
    metadata: Readonly<Record<string, unknown>>
    readonly size: number
  }
  export type ObjectMetadata = Record<string, unknown> & { 'content-length': number }
  /** `end` is included. */
  export type ReadRange = { start?: number; end?: number }
  type Stored = { size: number; md5: string }
  export type FilesystemStore = {
    getBucket(name: string): Promise<object | null>
    getMetadata(bucket: string, key: string): Promise<ObjectMetadata>
    getObject(bucket: string, key: string, range: ReadRange): Promise<StoredObject | null>
    putObject(object: StoredObject): Promise<Stored>
    getResourcePath(bucket: string, key: string, resource: string): string
    /** Returns the size in bytes and the MD5 in hex. */
    putContent(path: string, content: Content): Promise<[number, string]>
    copyObject(fromBucket: string, fromKey: string, bucket: string, key: string): Promise<ObjectMetadata>
    deleteObject(bucket: string, key: string): Promise<void>
    /** A bucket's or object's own CORS, website or tagging rules; null when it has none. */
    getSubresource(bucket: string, key: string | undefined, kind: string): Promise<object | null>
  }
  export type RequestContext = {
    method: string
    headers: Readonly<Record<string, string | string[] | undefined>>
    status: number
    type: string
    body: string
  }
  export default class S3rver {
    constructor(options: {
      address: string
      port: number
      silent: boolean
      directory: string
      vhostBuckets: boolean
      configureBuckets: { name: string }[]
    })
    store: FilesystemStore
    context: { logger: Record<'info' | 'warn' | 'error', () => void> }
    middleware: ((context: RequestContext, next: () => Promise<void>) => Promise<void>)[]
    run(): Promise<{ port: number }>
  }
}

declare module '@20minutes/s3rver/lib/models/account.js' {
  type Account = {
    createKeyPair(accessKeyId: string, secretAccessKey: string): void
    revokeAccessKey(accessKeyId: string): void
  }
  const account: { DUMMY_ACCOUNT: Account }
  export default account
}

declare module '@20minutes/s3rver/lib/models/object.js' {
  import type { Content, ObjectMetadata, StoredObject } from '@20minutes/s3rver'
  const S3Object: new (bucket: string, key: string, content: Content, metadata: ObjectMetadata) => StoredObject
  export default S3Object
}

declare module '@20minutes/s3rver/lib/signature/v4.js' {
  import type { KeyObject } from 'node:crypto'
  /** The module's own exports, which the server reads at each request. */
  const v4: { getSigningKey(secret: string, date: string, region: string, service: string): Buffer | KeyObject }
  export default v4
}
