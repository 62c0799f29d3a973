import { SignatureV4 } from '@smithy/signature-v4'
import { expect, test } from 'vitest'
import { openS3Client } from './s3-client.ts'
import { openSigner } from './direct-requests.ts'

const { sha256 } = openS3Client({ endpoint: 'http://127.0.0.1:1', region: 'us-east-1' }).config

const identity = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const host = 'examplebucket.s3.amazonaws.com'

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
        hostname: host,
        query: {},
        headers: { ...headers, host },
      }
      const signed = await theirs.sign(asked, { signingDate })
      expect(sign({ ...request, host, headers }, signingDate)).toEqual(signed.headers)
    }
  }
})
