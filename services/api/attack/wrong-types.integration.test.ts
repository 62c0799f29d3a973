import { z, type RouteConfig } from '@hono/zod-openapi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ProjectId } from '#domain/ids.ts'
import { submitRun } from '../played-run.fixture.ts'
import { endpoints } from '../routes/reference/api-document.ts'
import { expectAnswer, openAttackedApi, type AttackedApi } from './attacked-api.fixture.ts'

let api: AttackedApi
let runId: string
beforeAll(async () => {
  api = await openAttackedApi()
  runId = await submitRun(api)
})
afterAll(() => api.close())

const wrongTexts = [
  '',
  '-1',
  '1.5',
  '1e9',
  'NaN',
  'null',
  'true',
  '[]',
  '{}',
  '%00',
  '..',
  'é',
  "' or 1=1",
  '9'.repeat(30),
  'x'.repeat(3_000),
]
const wrongValues = [null, true, -1, 1.5, 1e300, '', 'x'.repeat(5_000), [], [null], [[]], {}, { a: 1 }, [{}]]

/** The names an object schema of an endpoint has. */
function namesOf(schema: unknown): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

const inner = endpoints.filter(({ path }) => path.startsWith('/v1/'))
const title = ({ method, path }: RouteConfig) => `${method.toUpperCase()} ${path}`

/** The address with what is right, but for `wrong`. */
function addressOf(path: string, wrong: Record<string, string> = {}): string {
  const right: Record<string, string> = {
    run_id: runId,
    operation_id: 'o0123456789abcdef',
    node_id: 'n0123456789abcdef',
    request_id: 'q1',
    seq: '1',
    ask_id: 'a0123456789abcdef',
    sha256: '0'.repeat(64),
    token_id: 't0123456789abcdef',
    project_id: 'shop',
    installation_id: '7',
  }
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(wrong[name] ?? right[name] ?? ''))
}

describe('every wrong type in every place', () => {
  it.for(inner.map((endpoint) => [title(endpoint), endpoint] as const))(
    'in the address and the query: %s',
    async ([, { method, path, request }]) => {
      const ask = (address: string) => api.fetch(address, { method: method.toUpperCase() })
      for (const name of namesOf(request?.params)) {
        const isRight = (text: string) => name === 'project_id' && ProjectId.safeParse(text).success
        for (const text of wrongTexts.filter((one) => one !== '' && one !== '..' && !isRight(one))) {
          expect(await expectAnswer(await ask(addressOf(path, { [name]: text })))).toBe(404)
        }
      }
      const names = [...namesOf(request?.query), 'nobody_knows_this']
      for (const name of names) {
        for (const text of wrongTexts) {
          await expectAnswer(await ask(`${addressOf(path)}?${new URLSearchParams({ [name]: text }).toString()}`))
        }
        const twice = await ask(`${addressOf(path)}?${name}=1&${name}=1`)
        expect(await expectAnswer(twice)).toBe(400)
      }
    },
  )

  it.for(
    inner
      .filter(({ request }) => request?.headers !== undefined)
      .map((endpoint) => [title(endpoint), endpoint] as const),
  )('in the headers: %s', async ([, { method, path, request }]) => {
    for (const name of namesOf(request?.headers)) {
      for (const text of ['', ' ', 'two words', 'x'.repeat(300), '-1', '1.5']) {
        const headers = { [name]: text, accept: 'application/json' }
        await expectAnswer(await api.fetch(addressOf(path), { method: method.toUpperCase(), headers }))
      }
    }
  })

  it.for(
    inner.flatMap((endpoint) => {
      const content = endpoint.request?.body?.content['application/json']
      const schema = content !== undefined && 'schema' in content ? content.schema : undefined
      return !(schema instanceof z.ZodType) ? [] : [[title(endpoint), endpoint, namesOf(schema)] as const]
    }),
  )('in the body: %s', async ([, { method, path }, names]) => {
    expect(names.length).toBeGreaterThan(0)
    const post = (document: unknown) =>
      api.fetch(addressOf(path), {
        method: method.toUpperCase(),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(document),
      })
    for (const value of wrongValues) await expectAnswer(await post(value))
    for (const name of names) for (const value of wrongValues) await expectAnswer(await post({ [name]: value }))
    expect(await expectAnswer(await post({ nobody_knows_this: 1 }))).toBe(422)
  })
})
