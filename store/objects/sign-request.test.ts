import { SignatureV4 } from '@smithy/signature-v4'
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

test('a request is signed as the reference signs its example', () => {
  const headers = openSigner(identity)(get, new Date('2013-05-24T00:00:00.000Z'))
  expect(headers['authorization']).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, ' +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  )
})

test('requests of every kind are signed as the SDK signs them, from one day to the next', async () => {
  const further: Record<string, string>[] = [
    {},
    { 'content-type': 'text/plain' },
    { range: 'bytes=0-9', 'x-amz-a': ' b  c ' },
  ]
  for (const sessionToken of [undefined, 'token']) {
    const given = { ...identity, ...(sessionToken === undefined ? {} : { sessionToken }) }
    const sign = openSigner(given)
    const { region, ...credentials } = given
    const theirs = new SignatureV4({ credentials, region, service: 's3', sha256, uriEscapePath: false })
    for (const [at, headers] of [...further, ...further].entries()) {
      const signingDate = new Date(Date.UTC(2013, 4, 24, 23, 59, 58 + at))
      const path = `/bucket/a%20key%28${at}%29/%C3%A4`
      const request = {
        method: at % 2 === 0 ? ('GET' as const) : ('PUT' as const),
        path,
        body: Buffer.from(`body ${at}`),
      }
      const asked = {
        ...request,
        protocol: 'http:',
        hostname: get.host,
        query: {},
        headers: { ...headers, host: get.host },
      }
      const signed = await theirs.sign(asked, { signingDate })
      expect(sign({ ...request, host: get.host, headers }, signingDate)).toEqual(signed.headers)
    }
  }
})
