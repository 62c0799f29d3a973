import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { withRunForm, type RunForm } from './run-form.ts'

const boundary = 'edge-of-parts'
const contentType = `multipart/form-data; boundary=${boundary}`

function part(name: string, content: string, filename?: string): string {
  const file = filename === undefined ? '' : `; filename="${filename}"\r\ncontent-type: application/octet-stream`
  return `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`
}
const end = `--${boundary}--\r\n`

function post(body: string | ReadableStream<Uint8Array>, type = contentType): Request {
  return new Request('http://api/v1/runs', { method: 'POST', body, headers: { 'content-type': type }, duplex: 'half' })
}

async function readAll({ archive, wholeRequest }: RunForm): Promise<{ request: unknown; archive: string }> {
  const chunks = await Array.fromAsync(archive)
  return { request: await wholeRequest(), archive: Buffer.concat(chunks).toString() }
}

async function faultOf(request: Request): Promise<string> {
  const error: unknown = await withRunForm(request, readAll).then(
    () => new Error('it was accepted'),
    (reason: unknown) => reason,
  )
  if (error instanceof AppError) return `${error.code} ${error.message}`
  throw error
}

describe('withRunForm', () => {
  it('takes a request sent as a file, and an archive without a file name', async () => {
    const body = part('request', '{}', 'request.json') + part('archive', 'bytes') + end
    expect(await withRunForm(post(body), readAll)).toEqual({ request: {}, archive: 'bytes' })
  })

  it.for([
    ['after the request', part('request', '{}'), end],
    ['before the request', '', part('request', '{}') + end],
  ] as const)('hands the archive over while it is still arriving, %s', async ([, before, after]) => {
    let more: ReadableStreamDefaultController<Uint8Array> | undefined
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        more = controller
        controller.enqueue(Buffer.from(before + part('archive', 'first', 'a.tar').slice(0, -2)))
      },
    })
    const chunks = await withRunForm(post(body), async ({ archive }) => {
      const seen: string[] = []
      for await (const chunk of archive) {
        seen.push(Buffer.from(chunk).toString())
        if (seen.length > 1) continue
        more?.enqueue(Buffer.from(`second\r\n${after}`))
        more?.close()
      }
      return seen
    })
    expect(chunks.length).toBeGreaterThan(1)
    expect(chunks.join('')).toBe('firstsecond')
  })

  it('does not read ahead of its reader', async () => {
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      start: (controller) =>
        controller.enqueue(Buffer.from(part('request', '{}') + part('archive', '', 'a.tar').slice(0, -2))),
      pull(controller) {
        sent += 1
        controller.enqueue(new Uint8Array(1024 * 1024))
      },
    })
    await withRunForm(post(body), async ({ archive }) => {
      for await (const _chunk of archive) break
    })
    expect(sent).toBeLessThan(16)
  })

  it.for([
    [
      'with a request after the archive that is no JSON',
      part('archive', 'x', 'a') + part('request', '{agents}') + end,
      'INTAKE_008 request: not JSON',
    ],
    [
      'with a field nobody knows after the archive',
      part('archive', 'x', 'a') + part('agents', 'lint') + end,
      'INTAKE_008 unknown field "agents"',
    ],
    ['that breaks off after the archive', part('archive', 'x', 'a') + part('request', '{}').slice(0, -4), 'INTAKE_001'],
    [
      'with a request that is no JSON',
      part('request', '{agents}') + part('archive', 'x', 'a') + end,
      'INTAKE_008 request: not JSON',
    ],
    [
      'with a request that is too long',
      part('request', 'x'.repeat(2_200_000)) + part('archive', 'x', 'a') + end,
      'INTAKE_008 request is longer',
    ],
    [
      'with a field nobody knows',
      part('agents', 'lint') + part('archive', 'x', 'a') + end,
      'INTAKE_008 unknown field "agents"',
    ],
    ['that breaks off in the archive', part('request', '{}') + part('archive', 'x'.repeat(5000), 'a'), 'INTAKE_001'],
    ['that breaks off before it', part('request', '{}').slice(0, -4), 'INTAKE_001'],
    ['that is no multipart at all', 'hello', 'INTAKE_001'],
  ])('refuses a body %s', async ([, body = '', fault]) => {
    expect(await faultOf(post(body))).toContain(fault)
  })

  it.for(['application/json', 'multipart/form-data', 'multipart/form-data; charset=utf-8'])(
    'refuses the content type %s',
    async (type) => {
      expect(await faultOf(post('{}', type))).toMatch(
        type.startsWith('multipart/form-data;') ? /^INTAKE_008/ : /^HTTP_003/,
      )
    },
  )

  it('lets go of a body whose sender went away', async () => {
    let fail: ((reason: Error) => void) | undefined
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        fail = (reason) => controller.error(reason)
        controller.enqueue(Buffer.from(part('request', '{}') + part('archive', 'some bytes', 'a.tar').slice(0, -2)))
      },
    })
    const reading = withRunForm(post(body), async ({ archive }) => {
      for await (const _chunk of archive) fail?.(new Error('gone'))
    })
    await expect(reading).rejects.toMatchObject({ code: 'INTAKE_001' })
  })

  it('passes on what its reader throws and stops reading', async () => {
    const body = part('request', '{}') + part('archive', 'x', 'a.tar') + end
    const reading = withRunForm(post(body), async () => {
      throw new AppError('INTAKE_006', 'no such agent')
    })
    await expect(reading).rejects.toMatchObject({ code: 'INTAKE_006' })
  })
})
