/** The part of the embedded S3 server that we use; the package brings no types of its own. */
declare module '@20minutes/s3rver' {
  export type Content = AsyncIterable<Uint8Array> | Uint8Array
  export type FilesystemStore = {
    getResourcePath(bucket: string, key: string, resource: string): string
    /** Returns the size in bytes and the MD5 in hex. */
    putContent(path: string, content: Content): Promise<[number, string]>
    putMetadata(bucket: string, key: string, metadata: object, md5?: string): Promise<void>
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
    /** As Koa runs them; first those that are first. */
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
