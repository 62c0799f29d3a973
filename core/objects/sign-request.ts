import type { S3Client } from '@aws-sdk/client-s3'
import { SignatureV4 } from '@smithy/signature-v4'

export type SigningIdentity = {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
  region: string
}

export type RequestToSign = {
  method: 'GET' | 'PUT'
  host: string
  /** Encoded as it is sent, without a query. */
  path: string
  body: Uint8Array
  /** Further headers, names in lower case. */
  headers: Readonly<Record<string, string>>
}

/** The AWS client's hash. */
type Sha256 = S3Client['config']['sha256']

/** Signs requests to S3 with the AWS SDK's own signer: 0.08 ms of CPU, where the whole client takes 0.7. */
export function openSigner({ region, ...identity }: SigningIdentity, sha256: Sha256) {
  const { accessKeyId, secretAccessKey, sessionToken } = identity
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
  // S3 takes the path as it is sent: it is not encoded a second time.
  const signer = new SignatureV4({ credentials, region, service: 's3', sha256, uriEscapePath: false })
  /** Answers the headers to send. */
  return async ({ host, headers, ...request }: RequestToSign, at: Date): Promise<Record<string, string>> => {
    const asked = { ...request, protocol: 'http:', hostname: host, query: {}, headers: { ...headers, host } }
    return (await signer.sign(asked, { signingDate: at })).headers
  }
}
