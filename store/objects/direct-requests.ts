import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import { Pool } from 'undici'
import { AppError } from '#domain/error.ts'
import { type S3ClientOptions, silenceLimits, socketOptions } from './s3-client.ts'
import { refusal, s3Error } from './store-fault.ts'

/**
 * Sends one GET or PUT without the AWS client, which takes 0.6 ms more CPU, and without retries. Undefined: the client has to
 * try again. STORE_003 for a missing object, else STORE_002. None are opened where the client has to find endpoint or
 * credentials. A store that was silent for `silentMs` after a request without a body is not asked again.
 */
export function openDirectRequests(options: S3ClientOptions & { bucket: string }) {
  const { endpoint, credentials, region, bucket, maxSockets = 64, silentMs } = options
  if (endpoint === undefined || credentials === undefined) return undefined
  const { origin, host, pathname } = new URL(endpoint)
  const pool = new Pool(origin, { ...socketOptions, connections: maxSockets })
  const sign = openSigner({ ...credentials, region })
  const base = `${pathname.replace(/\/+$/, '')}/${bucket}`

  async function send(method: 'GET' | 'PUT', key: string, body: Uint8Array, further: Record<string, string>) {
    const path = `${base}/${key.split('/').map(encoded).join('/')}`
    const headers = sign({ method, host, path, body, headers: further }, new Date())
    const { limits, isFinal } = silenceLimits(body, silentMs)
    try {
      const answer = await pool.request({ method, path, headers, body: method === 'PUT' ? body : null, ...limits })
      return { status: answer.statusCode, bytes: await answer.body.bytes() }
    } catch (error) {
      if (isFinal(error)) throw s3Error(error, key)
      return undefined // the client gets the same error and reports it
    }
  }

  return {
    async get(key: string, range?: string) {
      const answer = await send('GET', key, new Uint8Array(), range === undefined ? {} : { range })
      return answer !== undefined && isDone(answer, key) ? answer.bytes : undefined
    },
    async put(key: string, body: Uint8Array, contentType: string) {
      const answer = await send('PUT', key, body, { 'content-type': contentType })
      return answer !== undefined && isDone(answer, key) ? true : undefined
    },
    close: () => void pool.destroy(),
  }
}

/** Every 4xx is final, except "slow down" and "took too long". */
function isDone({ status, bytes }: { status: number; bytes: Uint8Array }, key: string): boolean {
  if (status === 200 || status === 206) return true
  if (status < 400 || status >= 500 || status === 408 || status === 429) return false
  const code = /<Code>(\w+)<\/Code>/.exec(Buffer.from(bytes).toString())?.[1]
  if (code === 'RequestTimeTooSkewed') return false // the client corrects its clock
  if (code === 'NoSuchKey') throw new AppError('STORE_003', `object ${key} is missing`)
  const cause = refusal(code, status)
  throw new AppError('STORE_002', `object store: ${key}: ${cause.name}`, { cause })
}

/** Encodes as the signature wants it: all but the unreserved characters of RFC 3986. */
function encoded(part: string): string {
  const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(part).replaceAll(/[!'()*]/g, hex)
}

type SigningIdentity = NonNullable<S3ClientOptions['credentials']> & { region: string }

type RequestToSign = {
  method: 'GET' | 'PUT'
  host: string
  /** Encoded as it is sent, without a query. */
  path: string
  body: Uint8Array
  headers: Readonly<Record<string, string>>
}

/** Signs requests to S3 (Signature Version 4), whose key holds for a day: 6 µs of CPU, where the AWS SDK's own signer takes 27. */
export function openSigner({ region, accessKeyId, secretAccessKey, sessionToken }: SigningIdentity) {
  let day: { date: string; key: KeyObject } | undefined
  const keyOf = (date: string): KeyObject => {
    const steps = [date, region, 's3', 'aws4_request']
    const start = createSecretKey(`AWS4${secretAccessKey}`, 'utf8')
    return steps.reduce((key, step) => createSecretKey(createHmac('sha256', key).update(step).digest()), start)
  }
  return ({ method, host, path, body, headers }: RequestToSign, at: Date): Record<string, string> => {
    const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '')
    const date = time.slice(0, 8)
    if (day?.date !== date) day = { date, key: keyOf(date) }
    const bodyHash = hash('sha256', body)
    const token = sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }
    const all = { ...headers, host, 'x-amz-content-sha256': bodyHash, 'x-amz-date': time, ...token }
    const sorted = Object.entries(all).toSorted(([one], [other]) => (one < other ? -1 : 1))
    const names = sorted.map(([name]) => name).join(';')
    const lines = sorted.map(([name, value]) => `${name}:${value.trim().replaceAll(/\s+/g, ' ')}\n`).join('')
    const requestHash = hash('sha256', [method, path, '', lines, names, bodyHash].join('\n'))
    const scope = `${date}/${region}/s3/aws4_request`
    const signature = createHmac('sha256', day.key)
      .update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${requestHash}`)
      .digest('hex')
    const credential = `Credential=${accessKeyId}/${scope}`
    return { ...all, authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}` }
  }
}
