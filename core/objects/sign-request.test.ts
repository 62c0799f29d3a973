import { expect, test } from 'vitest'
import { openS3Client } from './s3-client.ts'
import { openSigner } from './direct-requests.ts'

const { sha256 } = openS3Client({ endpoint: 'http://127.0.0.1:1', region: 'us-east-1' }).config

// The example "GET Object" of the S3 API reference (Signature calculations for the Authorization header).
const identity = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const get = {
  method: 'GET' as const,
  host: 'examplebucket.s3.amazonaws.com',
  path: '/test.txt',
  body: new Uint8Array(),
  headers: { range: 'bytes=0-9' },
}

test('a request is signed as the reference signs its example', async () => {
  const headers = await openSigner(identity, sha256)(get, new Date('2013-05-24T00:00:00.000Z'))
  expect(headers['authorization']).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, ' +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  )
})

test('a session token is signed, too', async () => {
  const sign = openSigner({ ...identity, sessionToken: 'token' }, sha256)
  const headers = await sign(get, new Date('2013-05-25T00:00:00Z'))
  expect(headers['authorization']).toContain('x-amz-security-token')
  expect(headers['x-amz-security-token']).toBe('token')
})
