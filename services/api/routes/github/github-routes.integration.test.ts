import { describe, expect, it } from 'vitest'
import { sha256, type RunId } from '#domain/ids.ts'
import { openDeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import type { HandledDelivery } from '#code-hosts/delivery.ts'
import { Publication, type PublishedPull } from '#domain/publication.ts'
import type { RepositorySource } from '#domain/repository-source.ts'
import { aNewRun } from '#testing/open-test-ledger.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { Problem } from '#schemas/problem-schema.ts'
import { openTestApi, type TestApi, type TestApiOptions } from '../../app.fixture.ts'
import { playRun, submitRun } from '../../played-run.fixture.ts'
import { openPlayedReview } from '../review/played-review.fixture.ts'
import { testSigner } from '#testing/test-signer.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const api = useTestApi()

const repository: RepositorySource = {
  host: 'github',
  installationId: 7,
  repository: { id: 1, owner: 'octocat', name: 'hello' },
  ref: 'refs/heads/main',
  commit: 'c'.repeat(40),
  branch: 'main',
  pullRequest: 4,
  isFork: false,
}

async function repositoryRun(of: TestApi, about: Partial<RepositorySource> = {}): Promise<RunId> {
  const run = aNewRun({ projectId: of.project })
  await of.ledger.createRun({ ...run, request: { ...run.request, repository: { ...repository, ...about } } })
  return run.runId
}

const publish = (of: TestApi, runId: string) => of.ask(`/v1/runs/${runId}/publish`, { method: 'POST' })
const problemOf = async (answer: Response) => Problem.parse(await answer.json())

const pull: PublishedPull = {
  agent: null,
  branch: 'remora/run',
  number: 12,
  url: 'https://github.com/octocat/hello/pull/12',
  head: 'a'.repeat(40),
  base: 'b'.repeat(40),
  state: 'open',
  isDraft: true,
  changeSetIds: ['c1'],
  carried: [],
}

it('the pull request of a run follows what people decide, where there is one', async () => {
  const runId = await playRun(api, [{ name: 'one', changes: [{ kind: 'create', path: 'n.py', content: 'n = 1\n' }] }])
  const review = openPlayedReview(api)
  const [change] = await review.changes(runId)
  const jobsOf = () => api.jobs.filter((job) => job === runId).length
  const before = jobsOf()
  const decide = (verdict: string) =>
    review.decide(runId, { decisions: [{ change_set_id: change?.change_set_id, verdict }] })
  await decide('accept')
  expect(jobsOf()).toBe(before)
  await api.ledger.notePublication(runId, { publication: Publication.parse({}) })
  await decide('reject')
  expect(jobsOf()).toBe(before + 1)
})

describe('POST /v1/runs/{run_id}/publish', () => {
  it('asks the publisher anew, whatever became of the run before', async () => {
    const runId = await repositoryRun(api)
    const fault = { errorCode: 'HOST_003', reason: 'no permission', at: 1 }
    const check = { id: 3, status: 'completed', said: 'hash', at: 1 } as const
    const before = Publication.parse({ check, pulls: [pull], isDismissed: true, isSettled: true, fault })
    await api.ledger.notePublication(runId, { publication: before })
    const shown = {
      check_run: { id: 3, status: 'completed' },
      pulls: [{ agent: null, branch: 'remora/run', number: 12, url: pull.url, state: 'open', is_draft: true }],
    }
    expect(await (await api.ask(`/v1/runs/${runId}`)).json()).toMatchObject({
      repository: { owner: 'octocat', name: 'hello', commit: 'c'.repeat(40), branch: 'main', pull_request: 4 },
      publication: { ...shown, fault: { error_code: 'HOST_003', reason: 'no permission' } },
    })
    const answer = await publish(api, runId)
    expect(answer.status).toBe(202)
    expect(await answer.json()).toMatchObject({ run_id: runId, repository: { branch: 'main' }, publication: shown })
    expect((await api.ledger.getRun(runId)).publication).toEqual({
      ...before,
      version: 2,
      isAsked: true,
      isDismissed: false,
      isSettled: false,
      fault: null,
    })
    expect(api.jobs.filter((id) => id === runId)).toHaveLength(1)
  })

  it('loses nothing of what the publisher writes at the same time', async () => {
    const runId = await repositoryRun(api)
    const write = async () => {
      for (let done = 0; done < 5;) {
        const { publication } = await api.ledger.getRun(runId)
        const next = { ...(publication ?? Publication.parse({})), pulls: [...(publication?.pulls ?? []), pull] }
        if (await api.ledger.notePublication(runId, { publication: next })) done += 1
      }
    }
    const asked = Array.from({ length: 3 }, () => publish(api, runId))
    const [answers] = await Promise.all([Promise.all(asked), write()])
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
    const { publication } = await api.ledger.getRun(runId)
    expect(publication).toMatchObject({ isAsked: true })
    expect(publication?.pulls).toHaveLength(5)
  })

  it('says what to do instead where nothing can be published', async () => {
    const uploaded = await submitRun(api)
    const problem = await problemOf(await publish(api, uploaded))
    expect(problem).toMatchObject({ status: 409, error_code: 'PUBLISH_004' })
    expect(problem.detail).toContain(`remora publish ${uploaded} --to`)
    expect(await problemOf(await publish(api, await repositoryRun(api, { isFork: true })))).toMatchObject({
      error_code: 'PUBLISH_001',
    })
    const runId = await repositoryRun(api)
    const other = await api.askAs('other', `/v1/runs/${runId}/publish`, { method: 'POST' })
    expect(await problemOf(other)).toMatchObject({ status: 404, error_code: 'RUN_001' })
    expect((await api.ledger.getRun(runId)).publication).toBeNull()
    await withApi({ hasPublisher: false }, async (without) => {
      const answer = await publish(without, await repositoryRun(without))
      expect(await problemOf(answer)).toMatchObject({ status: 409, error_code: 'PUBLISH_004' })
    })
  })
})

describe('/v1/github', () => {
  it('shows an installation to its project and to the operator, who gives it to another', async () => {
    await withApi({}, async (own) => {
      const other = `${own.project}x`
      await own.installations.note({ installationId: 8, projectId: own.project, account: 'acme', isSuspended: true })
      await own.installations.note({
        installationId: 7,
        projectId: own.project,
        account: 'octocat',
        isSuspended: false,
      })
      const repositories = ['b', 'a'].map((name, at) => ({ id: at + 1, owner: 'octocat', name }))
      await own.installations.addRepositories(7, repositories)
      const path = '/v1/github/installations'
      const seven = { installation_id: 7, account: 'octocat', is_suspended: false, repository_count: 2 }
      expect(await (await own.ask(path)).json()).toMatchObject({
        installations: [
          { ...seven, project_id: own.project, repositories: ['octocat/a', 'octocat/b'] },
          { installation_id: 8, is_suspended: true, repository_count: 0 },
        ],
      })
      expect(await (await own.askAs('other', path)).json()).toEqual({ installations: [] })
      const assign = (projectId: string, id: string | number = 7) => ({
        path: `${path}/${id}`,
        init: {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ project_id: projectId }),
        },
      })
      const asked = assign(other)
      expect(await problemOf(await own.ask(asked.path, asked.init))).toMatchObject({ error_code: 'PROJECT_001' })
      await own.ask(`/v1/projects/${other}`, { method: 'PUT' })
      expect((await own.askAs('other', asked.path, asked.init)).status).toBe(403)
      expect(await (await own.ask(asked.path, asked.init)).json()).toMatchObject({ ...seven, project_id: other })
      expect(await (await own.askAs('other', path)).json()).toMatchObject({ installations: [seven] })
      for (const id of [9, 'x', '7;'].map((one) => assign(other, one)))
        expect(await problemOf(await own.ask(id.path, id.init))).toMatchObject({ status: 404, error_code: 'HOST_002' })
    })
  })

  it('shows what became of deliveries: to the operator all, to others those of their project', async () => {
    await withApi({}, async (own) => {
      const inbox = openDeliveryInbox(own.redis, own.namespace, { signer: testSigner })
      for (const [at, projectId] of [own.project, `${own.project}x`, null].entries()) {
        const deliveryId = `d${at}`
        const about = { event: 'push', bodyHash: sha256(deliveryId), installationId: 7, repository: null, sender: null }
        await inbox.put({ deliveryId, ...about, body: { kind: 'other', action: null } })
        const handled: HandledDelivery = {
          deliveryId,
          event: 'push',
          action: null,
          repository: 'octocat/hello',
          ref: 'refs/heads/main',
          outcome: at === 1 ? 'acted' : 'ignored',
          reason: 'not a branch that is worked on',
          projectId,
          runId: null,
          at: 0,
        }
        for (const taken of await inbox.take('test', 1)) await inbox.end(taken, handled)
      }
      const idsOf = async (answer: Promise<Response>) => JSON.stringify(await (await answer).json()).match(/"d\d"/g)
      expect(await idsOf(own.ask('/v1/github/deliveries?ignored=show'))).toEqual(['"d2"', '"d1"', '"d0"'])
      expect(await idsOf(own.ask('/v1/github/deliveries?limit=1&ignored=show'))).toEqual(['"d2"'])
      expect(await idsOf(own.ask('/v1/github/deliveries?limit=1'))).toEqual(['"d1"'])
      expect(await idsOf(own.askAs('other', '/v1/github/deliveries'))).toEqual(['"d1"'])
      expect(await problemOf(await own.ask('/v1/github/deliveries?limit=0'))).toMatchObject({ error_code: 'RUN_002' })
    })
  })
})

async function withApi(options: TestApiOptions, use: (own: TestApi) => Promise<void>): Promise<void> {
  const own = await openTestApi(await testRedis(), await testObjects(), options)
  try {
    await use(own)
  } finally {
    await own.close()
  }
}
