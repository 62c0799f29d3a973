import type { Octokit } from '@octokit/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lacks } from '../this-machine.ts'
import type { FakeRepository } from './host-repository.ts'
import { clientOf, refusalOf } from './octokit.fixture.ts'
import { type FakeGitHub, startFakeGitHub } from './start-fake-github.ts'

const at = { owner: 'acme', repo: 'inventory' }
const texts = { title: 'Remora', summary: 'Nothing yet' }
const action = { label: 'Accept all', description: 'Accepts what is pending', identifier: 'accept' }

describe.skipIf(lacks('git'))('check runs of the fake GitHub', () => {
  let github: FakeGitHub
  let repository: FakeRepository
  let octokit: Octokit
  let headSha: string

  beforeEach(async () => {
    github = await startFakeGitHub()
    repository = await github.addRepository({ owner: at.owner, name: at.repo, files: { 'a.py': 'A = 1\n' } })
    octokit = clientOf(github, { installationId: github.install({ account: at.owner }).id })
    headSha = (await repository.tip('main')) ?? ''
  })
  afterEach(() => github.close())

  async function create(more: object = {}): Promise<number> {
    const wanted = { ...at, name: 'Remora', head_sha: headSha, ...more }
    return Number((await octokit.request('POST /repos/{owner}/{repo}/check-runs', wanted)).data.id)
  }

  const update = (id: number, change: object) =>
    octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', { ...at, check_run_id: id, ...change })

  const annotations = (count: number) =>
    Array.from({ length: count }, (_, index) => {
      const line = { start_line: index + 1, end_line: index + 1 }
      return { path: 'a.py', ...line, annotation_level: 'notice' as const, message: `line ${index + 1}` }
    })

  it('go from queued to a conclusion, and collect annotations in batches of 50', async () => {
    const id = await create({ status: 'queued', external_id: 'run-1' })
    await update(id, { status: 'in_progress', output: { ...texts, annotations: annotations(50) } })
    const { data } = await update(id, { conclusion: 'neutral', output: { ...texts, annotations: annotations(20) } })
    expect(data).toMatchObject({ status: 'completed', conclusion: 'neutral', external_id: 'run-1' })
    expect(data.output.annotations_count).toBe(70)
    const page = { ...at, check_run_id: id, per_page: 30 }
    const listed = await octokit.request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations', page)
    expect(listed.data).toHaveLength(30)
    expect(listed.headers.link).toContain('rel="next"')
  })

  it('refuse what is too much: annotations, texts, actions', async () => {
    const id = await create()
    const tooMuch = [
      { output: { ...texts, annotations: annotations(51) } },
      { output: { ...texts, summary: 'x'.repeat(65_536) } },
      { output: { ...texts, text: 'x'.repeat(65_536) } },
      { actions: Array.from({ length: 4 }, () => action) },
      { actions: [{ ...action, label: 'x'.repeat(21) }] },
      { actions: [{ ...action, description: 'x'.repeat(41) }] },
      { actions: [{ ...action, identifier: 'x'.repeat(21) }] },
    ]
    for (const change of tooMuch) expect(await refusalOf(update(id, change))).toContain('422 Invalid request.')
    expect(await refusalOf(create({ status: 'completed' }))).toContain('422 Invalid request.')
    expect(await refusalOf(create({ head_sha: 'f'.repeat(40) }))).toContain('422 No commit found for SHA')
  })

  it('belong to the app that made them', async () => {
    const mine = await create()
    const other = repository.otherCheckRun({ app: 'github-actions', name: 'tests', headSha, conclusion: 'success' })
    expect(await refusalOf(update(other.id, { conclusion: 'failure' }))).toContain('403')
    const list = async (filter: { app_id?: number; check_name?: string }) => {
      const asked = { ...at, ref: 'main', ...filter }
      const { data } = await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', asked)
      return data.check_runs.map(({ id }) => id)
    }
    expect(await list({})).toEqual([other.id, mine])
    expect(await list({ app_id: github.app.id })).toEqual([mine])
    expect(await list({ check_name: 'tests' })).toEqual([other.id])
  })

  it('tell the app what people press', async () => {
    const id = await create({ actions: [action] })
    repository.requestAction(id, 'accept', { by: 'ada' })
    repository.rerequest(id)
    const told = github.webhooks.deliveries.filter(({ event }) => event === 'check_run')
    await repository.rerequestSuite('main')
    expect(github.webhooks.deliveries.at(-1)).toMatchObject({ event: 'check_suite', action: 'rerequested' })
    expect(told.map((one) => one.action)).toEqual(['created', 'requested_action', 'rerequested'])
    expect(told[1]?.payload).toMatchObject({ requested_action: { identifier: 'accept' }, sender: { login: 'ada' } })
    expect(() => repository.requestAction(id, 'nothing')).toThrow('no action')
  })
})
