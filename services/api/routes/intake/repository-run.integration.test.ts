import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { Problem } from '#schemas/problem-schema.ts'
import { openTestApi } from '../../app.fixture.ts'
import { acceptRun } from '#stages/intake/accept-run.ts'
import { readRepositoryRun } from '#stages/intake/repository-run.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const api = useTestApi()
beforeAll(async () => {
  const installations = [
    { installationId: 7, projectId: api.project, account: 'octocat', isSuspended: false },
    { installationId: 8, projectId: `${api.project}x`, account: 'other', isSuspended: false },
  ]
  for (const one of installations) await api.installations.note(one)
  await api.installations.addRepositories(7, [{ id: 1, owner: 'octocat', name: 'Hello-World' }])
  await api.installations.addRepositories(8, [{ id: 2, owner: 'other', name: 'secret' }])
})

const init = (body: unknown, key?: string): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json; charset=utf-8', ...(key && { 'idempotency-key': key }) },
})
const bodyOf = (repository: unknown, request: object = {}) => ({ agents: ['lint'], ...request, repository })
const submit = (body: unknown, key?: string) => api.ask('/v1/runs', init(body, key))
const idOf = async (answer: Response) => z.object({ run_id: z.string() }).parse(await answer.json()).run_id
const problemOf = async (answer: Response) => Problem.parse(await answer.json())
const hello = { url: 'octocat/hello-world' }

describe('POST /v1/runs with a repository', () => {
  it('begins a run whose code is fetched, with the name that the host has for the repository', async () => {
    const answer = await submit(bodyOf({ ...hello, ref: 'feature/x' }, { paths: ['src'], node_kinds: ['function'] }))
    expect(answer.status).toBe(202)
    const runId = await idOf(answer)
    expect(api.jobs).toContain(runId)
    const run = await api.ledger.getRun(runId)
    expect(run.request).toMatchObject({
      agents: ['lint'],
      paths: ['src'],
      nodeKinds: ['function'],
      repository: {
        host: 'github',
        installationId: 7,
        repository: { id: 1, owner: 'octocat', name: 'Hello-World' },
        ref: 'feature/x',
      },
    })
    expect(run.request.repository).not.toHaveProperty('commit')
    expect(run.uploadKey).toContain(runId)
    expect(await api.objects.exists(run.uploadKey)).toBe(false)
    expect(await (await api.ask(`/v1/runs/${runId}`)).json()).toMatchObject({
      repository: { host: 'github', owner: 'octocat', name: 'Hello-World', ref: 'feature/x', commit: null },
      publication: null,
    })
    const { events } = z
      .object({ events: z.array(z.looseObject({})) })
      .parse(await (await api.ask(`/v1/runs/${runId}/events`)).json())
    expect(events[0]).toMatchObject({ data: { repository: 'octocat/Hello-World', ref: 'feature/x' } })
  })

  it.for([
    'octocat/Hello-World',
    'https://github.com/octocat/hello-world',
    'HTTPS://GitHub.com/Octocat/Hello-World.git',
  ])('knows a repository as %s', async (url) => {
    const { request } = await api.ledger.getRun(await idOf(await submit(bodyOf({ url }))))
    expect(request.repository).toMatchObject({ repository: { id: 1 }, ref: 'HEAD' })
  })

  it("answers for another project's repository as for one that nobody has", async () => {
    const others = await problemOf(await submit(bodyOf({ url: 'other/secret' })))
    const nobodys = await problemOf(await submit(bodyOf({ url: 'other/nothing' })))
    expect(others).toMatchObject({ status: 404, error_code: 'HOST_002' })
    expect(nobodys).toEqual({ ...others, detail: others.detail.replace('secret', 'nothing') })
    expect((await api.askAs('other', '/v1/runs', init(bodyOf({ url: 'other/secret' })))).status).toBe(202)
    expect((await api.askAs('other', '/v1/runs', init(bodyOf(hello)))).status).toBe(404)
  })

  it.for<[string, unknown, string]>([
    ['no repository', { agents: ['lint'] }, 'body.repository'],
    ['a list', [], 'body'],
    ['an unknown field of it', bodyOf({ ...hello, branch: 'main' }), 'body.repository'],
    ['an unknown field', bodyOf(hello, { agent: 'lint' }), 'body'],
    ['another host', bodyOf({ url: 'https://gitlab.com/octocat/hello-world' }), 'body.repository.url'],
    ['a password in the address', bodyOf({ url: 'https://a:secret@github.com/o/n' }), 'body.repository.url'],
    ['a path above', bodyOf({ url: 'octocat/hello-world/../x' }), 'body.repository.url'],
    ['an option as a ref', bodyOf({ ...hello, ref: '--upload-pack=x' }), 'body.repository.ref'],
    ['a ref with a line', bodyOf({ ...hello, ref: 'main\nx' }), 'body.repository.ref'],
    ['a ref of two', bodyOf({ ...hello, ref: 'a..b' }), 'body.repository.ref'],
    ['a list of files that were not sent', bodyOf(hello, { not_sent: [{ path: 'a', reason: 'b' }] }), 'body.not_sent'],
  ])('names the field at fault: %s', async ([, body, at]) => {
    const problem = await problemOf(await submit(body))
    expect(problem).toMatchObject({ status: 422, error_code: 'INTAKE_008' })
    expect(problem.detail.split(':')[0]).toBe(at)
    expect(problem.detail).not.toContain('secret')
  })

  it('checks the rest of the request as it does with an archive', async () => {
    expect(await problemOf(await submit(bodyOf(hello, { agents: ['nobody'] })))).toMatchObject({
      error_code: 'INTAKE_006',
    })
    const problem = await problemOf(await submit(bodyOf(hello, { agents: [] })))
    expect(problem).toMatchObject({
      error_code: 'INTAKE_008',
      detail: 'body.agents: name at least one agent, or give an objective',
    })
  })

  it('gives a repeated key the same run, another body INTAKE_005', async () => {
    const [one, same] = [await submit(bodyOf(hello), 'k1'), await submit(bodyOf(hello), 'k1')]
    expect(await idOf(same)).toBe(await idOf(one))
    const other = await submit(bodyOf({ ...hello, ref: 'dev' }), 'k1')
    expect(await problemOf(other)).toMatchObject({ error_code: 'INTAKE_005' })
  })

  it('finishes what a crash left undone when the same request comes again, without an upload', async () => {
    const deps = { ...api.intake.repositories }
    const request = () => new Request('http://api/v1/runs', init(bodyOf(hello)))
    const intake = async () => ({
      ...(await readRepositoryRun(request(), api.project, deps)),
      projectId: api.project,
      idempotencyKey: 'k2',
      correlation: { requestId: 'q1', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00` },
    })
    const died = () => Promise.reject(new Error('the process died here'))
    const crashing = { ...api.intake, ledger: { ...api.intake.ledger, createRun: died } }
    await expect(acceptRun(await intake(), crashing)).rejects.toThrow('died')
    const { runId } = await acceptRun(await intake(), api.intake)
    expect((await acceptRun(await intake(), api.intake)).runId).toBe(runId)
    expect((await api.ledger.getRun(runId)).request.repository).toMatchObject({ ref: 'HEAD' })
  })

  it('says who may help where no code is fetched', async () => {
    const without = await openTestApi(await testRedis(), await testObjects(), { hasPublisher: false })
    const problem = await problemOf(await without.ask('/v1/runs', init(bodyOf(hello))))
    expect(problem).toMatchObject({ error_code: 'INTAKE_008', detail: expect.stringContaining('REMORA_PUBLISHER_URL') })
    await without.close()
  })
})
