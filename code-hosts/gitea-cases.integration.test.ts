import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { startFakeGitea } from '#testing/fake-gitea.ts'
import { gitAs } from '#testing/git-clone.ts'
import { codeHostCases, type PlayedHost } from './code-host-cases.fixture.ts'
import { openGitRemote } from './git-remote.ts'
import { withGitea } from './gitea-host.ts'

const Pulls = z.array(
  z.looseObject({
    title: z.string(),
    body: z.string(),
    draft: z.boolean(),
    head: z.looseObject({ ref: z.string() }),
    base: z.looseObject({ ref: z.string() }),
  }),
)
const Statuses = z.array(z.looseObject({ status: z.enum(['pending', 'success', 'failure']), description: z.string() }))

async function start(): Promise<PlayedHost> {
  const { url, bareUrl, login, gitPath, close } = await startFakeGitea()
  const dir = await mkdtemp(join(tmpdir(), 'remora-gitea-cases-'))
  const read = async (path: string) => {
    const authorization = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`
    const answer = await fetch(`${new URL(bareUrl).origin}/api/v1/repos/ada/shop${path}`, {
      headers: { authorization },
    })
    return answer.json()
  }
  let opened = 0
  return {
    gitPath,
    url,
    async open() {
      const scratch = join(dir, `scratch-${opened++}`)
      await mkdir(scratch)
      const signal = AbortSignal.timeout(60_000)
      const of = { url, cwd: dir, scratch, trailer: 'Remora-Run', env: gitAs('Ada'), isInteractive: false, signal }
      const remote = await openGitRemote(of)
      return withGitea(remote, { url, findLogin: remote.findLogin, signal })
    },
    changeRequests: async () =>
      Pulls.parse(await read('/pulls?state=open&limit=50&page=1')).map(({ head, base, title, body, draft }) => {
        const shown = title.replace(/^WIP: /, '')
        return { branch: head.ref, baseBranch: base.ref, title: shown, body, isDraft: draft }
      }),
    // Each is kept, and the last is shown.
    statuses: async (commit) =>
      Statuses.parse(await read(`/statuses/${commit}`))
        .slice(0, 1)
        .map(({ status, description }) => ({ state: status === 'pending' ? 'running' : status, title: description })),
    async close() {
      await close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
codeHostCases('a Gitea', start, { changeRequests: true, statuses: true })
