import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeHostCases, type PlayedHost } from '#code-hosts/code-host-cases.fixture.ts'
import type { CommitState, StatusReport } from '#code-hosts/code-host.ts'
import { openGitHubApp } from '#code-hosts/github-client.ts'
import { type FakeGitHub, startFakeGitHub } from '#testing/fake-github/start-fake-github.ts'
import { recordedLog } from '#testing/recorded-log.ts'
import { lacks } from '#testing/this-machine.ts'
import { noWaiting } from './test-publisher.fixture.ts'
import { openGitHubHost } from '#stages/publish/github/github-host.ts'

const states: Record<string, CommitState> = {
  queued: 'queued',
  in_progress: 'running',
  success: 'success',
  failure: 'failure',
}

describe.skipIf(lacks('git'))('GitHub', () => {
  let github: FakeGitHub
  let installationId = 0
  let repositories = 0
  beforeAll(async () => {
    github = await startFakeGitHub()
    installationId = github.install({ account: 'acme' }).id
  })
  afterAll(() => github.close())

  async function openRepository(files?: Record<string, string>) {
    const repository = await github.addRepository({
      owner: 'acme',
      name: `shop${++repositories}`,
      ...(files && { files }),
    })
    const { id: appId, privateKey, slug } = github.app
    const { log } = recordedLog()
    const app = openGitHubApp({ appId: String(appId), privateKey, apiUrl: github.apiUrl, log, pace: noWaiting })
    const rights = { contents: 'write', pull_requests: 'write', checks: 'write' } as const
    const clientFor = () => app.clientFor({ installationId, repository }, rights)
    const open = async () => openGitHubHost(await clientFor(), repository, { appId, botLogin: `${slug}[bot]` })
    return { repository, clientFor, open }
  }

  async function start(): Promise<PlayedHost> {
    const { repository, open } = await openRepository()
    return {
      gitPath: repository.gitPath,
      open,
      async moveWhilePublishing(branch, commit) {
        github.watch(async ({ method, path, when }) => {
          if (method !== 'POST' || !path.endsWith('/git/commits') || when === 'before') return
          github.watch(() => {})
          await repository.git(['update-ref', `refs/heads/${branch}`, commit])
        })
      },
      changeRequests: async () =>
        repository.pulls().map(({ head, base, title, body, draft }) => {
          return { branch: head.ref, baseBranch: base.ref, title, body: body ?? '', isDraft: draft }
        }),
      statuses: async (commit) =>
        repository.checkRuns().flatMap(({ headSha, status, conclusion, output }) => {
          const state = states[conclusion ?? status]
          return headSha !== commit || state === undefined ? [] : [{ state, title: output.title ?? '' }]
        }),
      close: async () => repository.vanish(),
    }
  }

  codeHostCases('GitHub', start, { changeRequests: true, statuses: true })

  describe('a check run', () => {
    async function openReported() {
      const opened = await openRepository({ 'a.py': 'a = 1\n' })
      const commit = (await opened.repository.tip('main')) ?? ''
      const { reportStatus } = await opened.open()
      const of = { commit, name: 'Remora', key: 'r012345678', url: null, startedAt: 0, title: 'T', summary: 'S' }
      const usual: StatusReport = { ...of, state: 'success', buttons: [], annotations: [] }
      return { ...opened, report: (changes: Partial<StatusReport>) => reportStatus({ ...usual, ...changes }), commit }
    }
    const annotations = Array.from({ length: 120 }, (_, at) => {
      const place = { path: 'a.py', startLine: 1, endLine: 1, level: 'notice' } as const
      return { ...place, title: 'T', message: `finding ${at}` }
    })

    it('has every annotation once, and as much of a long text as GitHub takes', async () => {
      const { repository, report } = await openReported()
      const { id } = await report({ annotations, summary: 'ü'.repeat(40_000) })
      await report({ id, annotations, title: 'Other' })
      await report({ id, annotations, summary: 'ü'.repeat(40_000) })
      const [check, ...others] = repository.checkRuns()
      expect(others).toEqual([])
      expect(check?.annotations.map(({ message }) => message)).toEqual(annotations.map(({ message }) => message))
      expect(check?.output.summary).toMatch(/^ü{30000,}\n\n… \(cut\)$/)
    })

    it('that GitHub has made late gets the last word if it is the newest, and the other points to it', async () => {
      const { repository, clientFor, report, commit } = await openReported()
      const { id } = await report({ state: 'running', buttons: [{ identifier: 'b', label: 'B', description: 'D' }] })
      const client = await clientFor()
      const of = { owner: repository.owner, repo: repository.name }
      const late = { ...of, name: 'Remora', head_sha: commit, external_id: 'r012345678', status: 'queued' as const }
      await client.request('POST /repos/{owner}/{repo}/check-runs', late)
      await client.request('POST /repos/{owner}/{repo}/check-runs', { ...late, external_id: 'another run' })
      await report({ state: 'running', id, title: 'Half' })
      const { id: last } = await report({ id, annotations })
      await report({ id: last, annotations, title: 'Decided' })
      expect(repository.checkRuns()).toMatchObject([
        { id, status: 'completed', conclusion: 'skipped', actions: [] },
        { id: last, status: 'completed', conclusion: 'success', output: { title: 'Decided' } },
        { externalId: 'another run', status: 'queued' },
      ])
      expect(repository.checkRuns()[1]?.annotations).toHaveLength(120)
    })
  })
})
