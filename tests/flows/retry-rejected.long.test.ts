import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { askingAgent } from '../e2e/asking-agent.ts'
import { sourceFolder, type SourceFolder } from '../e2e/source-folder.ts'
import { type OneProcess, startInOneProcess } from './one-process.ts'

const source = 'def price(amount):\n    return amount * 2\n\n\ndef discount(amount):\n    return amount / 2\n'

const Change = z.looseObject({ change_set_id: z.string(), agent: z.string(), qualified_name: z.string() })
const Run = z.looseObject({
  status: z.string(),
  retried_by: z.string().nullable(),
  retry_wanted: z.int(),
  request: z.looseObject({ retry_of: z.string().optional() }),
})
const Runs = z.object({ runs: z.array(z.looseObject({ run_id: z.string(), request: Run.shape.request })) })
const Questions = z.object({ questions: z.array(z.looseObject({ request_id: z.string() })) })

describe.skipIf(lacks('git'))('what is rejected with a word, to be tried again', () => {
  let services: OneProcess
  let folder: SourceFolder
  let runId: string
  let retry: string

  beforeAll(async () => {
    folder = await sourceFolder({ 'shop.py': source, ...askingAgent })
    services = await startInOneProcess({ env: { REMORA_AGENTS_DIR: join(folder.path, 'agents') } })
    const request = { agents: ['docstring', 'purpose'], paths: ['shop.py'] }
    runId = await services.api.submit(await folder.pack(), request)
    await until(docstrings, { holds: ({ length }) => length === 2, withinMs: 60_000 })
  })
  afterAll(async () => {
    await services.close()
    await folder.remove()
  })

  function given<T>(part: T | undefined): T {
    if (part === undefined) throw new Error('it has not started')
    return part
  }
  const get = async <T>(path: string, schema: z.ZodType<T>): Promise<T> =>
    schema.parse(await (await services.api.ask(path)).json())
  const runOf = (id: string) => get(`/v1/runs/${id}`, Run)
  const docstrings = async () =>
    z
      .array(Change)
      .parse(await services.api.changes(runId))
      .filter(({ agent }) => agent === 'docstring')
  const retries = async () => (await get('/v1/runs', Runs)).runs.filter(({ request }) => request.retry_of !== undefined)
  const cli = (...args: string[]) => services.remora(folder, args)
  const transcript = async (id: string, name: string) => {
    const [operation] = (await services.api.operations(id)).filter(({ node }) => node.qualified_name === name)
    const answer = await services.api.ask(
      `/v1/runs/${id}/operations/${operation?.operation_id}/transcript?format=markdown`,
    )
    return answer.text()
  }

  it('needs a word, and is only for what is rejected', async () => {
    const wordless = await cli('reject', runId, 'docstring', 'shop.py', 'price', '--retry')
    expect(wordless).toMatchObject({ code: 2, err: expect.stringContaining('--retry needs --because') })
    expect((await cli('accept', runId, '--all', '--because', 'fine', '--retry')).code).toBe(2)
    for (const body of [
      { where: {}, verdict: 'reject', retry: true },
      { where: {}, verdict: 'accept', reason: 'fine', retry: true },
      { decisions: [{ change_set_id: 'c1', verdict: 'undo', reason: 'no', retry: true }] },
    ]) {
      const answer = await services.api.ask(`/v1/runs/${runId}/decisions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect(answer.status).toBe(422)
    }
  })

  it('waits while the run runs, and can be taken back', async () => {
    const reject = (name: string, because: string) =>
      cli('reject', runId, 'docstring', 'shop.py', name, '--because', because, '--retry')
    const first = await reject('price', 'Say that it is in cents.')
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.out).toContain(`1 operation to be tried again when run ${runId} has ended`)
    await reject('discount', 'Nobody needs this.')
    expect(await runOf(runId)).toMatchObject({ retried_by: null, retry_wanted: 2 })
    await cli('undo', runId, 'docstring', 'shop.py', 'discount')
    expect(await runOf(runId)).toMatchObject({ retry_wanted: 1 })
    await reject('discount', 'Say that it halves.')
    const shown = await cli('show', runId)
    expect(shown.out).toMatch(/to retry +2 rejected operations, by itself when the run has ended/)
    expect(await retries()).toEqual([])
  })

  it('is one retry after the end', async () => {
    const { questions } = await get(`/v1/runs/${runId}/questions`, Questions)
    for (const { request_id: id } of questions) await cli('answer', runId, id, 'selling')
    await until(() => runOf(runId), { holds: (run) => run.retried_by !== null, withinMs: 60_000 })
    retry = given((await runOf(runId)).retried_by ?? undefined)
    expect((await services.api.follow(retry)).status).toBe('completed')
    expect((await retries()).map(({ run_id: id }) => id)).toEqual([retry])
    const names = (await services.api.operations(retry)).map(({ node }) => node.qualified_name)
    expect(names.toSorted()).toEqual(['discount', 'price'])
    expect(await transcript(retry, 'price')).toContain('Say that it is in cents.')
    const other = await transcript(retry, 'discount')
    expect(other).toContain('Say that it halves.')
    expect(other).not.toContain('Nobody needs this.')
    expect(await runOf(runId)).toMatchObject({ retried_by: retry, retry_wanted: 0 })
    expect((await cli('show', runId)).out).toMatch(new RegExp(`retried by +${retry}`))
  })

  it('starts at once when the run has ended, as a retry of the newest one', async () => {
    const again = await cli('reject', runId, 'docstring', 'shop.py', 'price', '--because', 'Cents, please.', '--retry')
    const third = /tried again in run (\S+): remora watch \1/.exec(again.out)?.[1] ?? ''
    expect(third, again.out + again.err).not.toBe('')
    expect((await runOf(third)).request.retry_of).toBe(retry)
    expect((await services.api.follow(third)).status).toBe('completed')
    expect(await transcript(third, 'price')).toContain('Cents, please.')
    expect(await retries()).toHaveLength(2)
  })

  it('is told again when a retry was at work already, and has made the same change again', async () => {
    const reject = (because: string) =>
      cli('reject', runId, 'purpose', 'shop.py', 'price', '--because', because, '--retry')
    const answered = async (id: string) => {
      const asked = async () => (await get(`/v1/runs/${id}/questions?status=open`, Questions)).questions
      await until(asked, { holds: ({ length }) => length === 1, withinMs: 60_000 })
      return async () => {
        for (const { request_id: question } of await asked()) await cli('answer', id, question, 'selling')
        expect((await services.api.follow(id)).status).toBe('completed')
      }
    }
    const started = (await reject('Which currency?')).out
    const second = /tried again in run (\S+):/.exec(started)?.[1] ?? ''
    const answerSecond = await answered(second)
    expect((await reject('Say that it is in cents.')).out).toContain(`to be tried again when run ${second} has ended`)
    await answerSecond()
    await until(() => runOf(second), { holds: (run) => run.retried_by !== null, withinMs: 60_000 })
    const third = given((await runOf(second)).retried_by ?? undefined)
    await (
      await answered(third)
    )()
    expect(await transcript(third, 'price')).toContain('Say that it is in cents.')
  })

  it('leaves runs that verify finds nothing wrong with', async () => {
    for (const id of [runId, retry]) expect(await services.verify(id)).toMatchObject({ code: 0, err: '' })
  })
})
