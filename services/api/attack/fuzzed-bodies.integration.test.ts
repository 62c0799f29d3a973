import { draws, fc, testSeed } from '#testing/fast-check.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askingRun, submitRun } from '../played-run.fixture.ts'
import { expectAnswer, openAttackedApi, type AttackedApi } from './attacked-api.fixture.ts'

let api: AttackedApi
let runId: string
beforeAll(async () => {
  api = await openAttackedApi({ maxUploadBytes: 100_000 })
  runId = await askingRun(api)
})
afterAll(() => api.close())

const boundary = 'edge'
const gzipHead = Buffer.from([0x1f, 0x8b, 8])

const anyBytes = fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes))
const requests = fc.oneof(
  fc.constant('{"agents":["lint"]}'),
  fc.json({ maxDepth: 4 }),
  fc
    .record({ agents: fc.array(fc.string()), paths: fc.array(fc.string()), limits: fc.anything() })
    .map((one) => toJson(one)),
  fc.string(),
)
const partHeads = fc.oneof(
  fc.constantFrom(
    'content-disposition: form-data; name="request"',
    'content-disposition: form-data; name="archive"; filename="a.tar"',
    'content-disposition: form-data; name="__proto__"',
    'content-disposition: form-data; name="archive"; filename="../../etc/passwd"',
    "content-disposition: form-data; name*=utf-8''request",
    'content-disposition: form-data',
    'content-transfer-encoding: base64\r\ncontent-disposition: form-data; name="request"',
    'content-type: text/plain; charset=nonsense\r\ncontent-disposition: form-data; name="request"',
  ),
  fc.string(),
)
const parts = fc.record({
  head: partHeads,
  body: fc.oneof(
    requests.map((text) => Buffer.from(text)),
    anyBytes,
    anyBytes.map((bytes) => Buffer.concat([gzipHead, bytes])),
  ),
  /** How the part is joined to the next. */
  edge: fc.constantFrom('\r\n', '\n', '', '\r\n\r\n'),
})
const bodies = fc
  .record({ parts: fc.array(parts, { maxLength: 5 }), isEnded: fc.boolean(), cutAt: fc.option(fc.nat(4_000)) })
  .map((body) => {
    const bytes = Buffer.concat([
      ...body.parts.flatMap(({ head, body: content, edge }) => [
        Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
        content,
        Buffer.from(edge),
      ]),
      Buffer.from(body.isEnded ? `--${boundary}--\r\n` : ''),
    ])
    return body.cutAt === null ? bytes : bytes.subarray(0, body.cutAt)
  })
const types = fc.oneof(
  { weight: 5, arbitrary: fc.constant(`multipart/form-data; boundary=${boundary}`) },
  fc.constantFrom('multipart/form-data', 'multipart/mixed; boundary=edge', 'application/json', 'text/plain'),
  fc.constant(`multipart/form-data; boundary=${'x'.repeat(5_000)}`),
)

function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? String(one) : one)) ?? 'null'
}

describe(`random bodies (REMORA_TEST_SEED=${testSeed})`, () => {
  it('as uploads are taken in or refused with a code', async () => {
    const property = fc.asyncProperty(types, bodies, async (type, body) => {
      const init = { method: 'POST', headers: { 'content-type': type }, body: new Uint8Array(body) }
      await expectAnswer(await api.fetch('/v1/runs', init))
    })
    await fc.assert(property, { numRuns: draws(400), endOnFailure: true })
  })

  it.for(['questions/q1', 'cancel', 'retry', 'tokens'])(
    'as JSON are taken or refused with a code: %s',
    async (what) => {
      const path = what === 'tokens' ? '/v1/tokens' : `/v1/runs/${runId}/${what}`
      const texts = fc.oneof(
        fc.json({ maxDepth: 5 }),
        fc.string({ maxLength: 300 }),
        fc.integer({ min: 1, max: 60_000 }).map((depth) => '['.repeat(depth)),
        fc
          .record(
            {
              reason: fc.anything(),
              operations: fc.anything(),
              scopes: fc.anything(),
              name: fc.anything(),
              answer: fc.anything(),
            },
            { requiredKeys: [] },
          )
          .map(toJson),
      )
      const property = fc.asyncProperty(texts, async (body) => {
        const headers = { 'content-type': 'application/json' }
        await expectAnswer(await api.fetch(path, { method: 'POST', headers, body }))
      })
      await fc.assert(property, { numRuns: draws(200), endOnFailure: true })
    },
  )

  it('leave a service that still takes a good upload', async () => {
    expect(await submitRun(api)).toMatch(/^r/)
  })
})
