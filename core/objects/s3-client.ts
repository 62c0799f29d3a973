import { S3Client } from '@aws-sdk/client-s3'
import { openUndiciHandler } from './undici-handler.ts'

export type S3ClientOptions = {
  /** Undefined: AWS itself. */
  endpoint: string | undefined
  region: string
  /** Undefined: found as the AWS SDK finds them. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined
  maxSockets?: number
  /** Of a request, the first one included. */
  maxAttempts?: number
}

/** Steps that do nothing for us: a user agent, a log nobody reads, Lambda's trace header, redirects that are off. */
const idleSteps = [
  'getUserAgentMiddleware',
  'loggerMiddleware',
  'recursionDetectionMiddleware',
  'regionRedirectMiddleware',
  'regionRedirectEndpointMiddleware',
]

/**
 * The AWS client without what costs CPU and gives us nothing: together a quarter to a third less per request. It is for
 * one bucket and one region: requests in flight share the context of their command, and all share one signer.
 */
export function openS3Client(options: S3ClientOptions): S3Client {
  const { endpoint, region, credentials, maxSockets = 64, maxAttempts = 4 } = options
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    // What we store is named by its SHA-256, or checked by it; a second checksum would only cost CPU.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts,
    // The stack of middleware is put together once per command, not once per request.
    cacheMiddleware: true,
    // undici refuses the header that asks the server before a large body is sent.
    expectContinueHeader: false,
    requestHandler: openUndiciHandler({ connections: maxSockets }),
  })
  for (const step of idleSteps) client.middlewareStack.remove(step)
  shareSigner(client)
  if (endpoint !== undefined) addressBucketPlainly(client)
  return client
}

/** `/bucket?…` instead of `/bucket/?…`: the embedded server signs the former, and every other takes both. */
function addressBucketPlainly(client: S3Client): void {
  client.middlewareStack.add(
    (next) => (args) => {
      const { request } = args
      if (isAddressed(request) && request.path.length > 1 && request.path.endsWith('/'))
        request.path = request.path.slice(0, -1)
      return next(args)
    },
    { step: 'build', name: 'addressBucketPlainly' },
  )
}

function isAddressed(request: unknown): request is { path: string } {
  return typeof request === 'object' && request !== null && 'path' in request && typeof request.path === 'string'
}

/**
 * The client makes a signer of its whole configuration for each request. One signer asks for the credentials each time.
 */
function shareSigner({ config }: S3Client): void {
  const make = config.signer
  let signer: ReturnType<typeof make> | undefined
  config.signer = (scheme) => (signer ??= make(scheme))
}
