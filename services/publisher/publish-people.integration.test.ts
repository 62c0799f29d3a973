import { describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { lacks } from '#testing/this-machine.ts'
import { type PlayedRun, usePublisher } from './published-run.fixture.ts'

const changes: PlayedRun['changes'] = [{ name: 'one', path: 'a.py', from: '1', to: '2' }]
const other: PlayedRun['changes'] = [{ name: 'two', path: 'b.py', from: '1', to: '3' }]

describe.skipIf(lacks('git'))('what people do meanwhile', () => {
  const at = usePublisher()

  const play = (played: Partial<PlayedRun> = {}) => at.play({ changes, ...played })
  const published = (played: Partial<PlayedRun> = {}) => at.published({ changes, ...played })
  const publicationOf = async (runId: RunId) => (await at.publisher.publicationOf(runId)) ?? undefined
  async function toldOf(runId: RunId) {
    await at.publisher.takeAll()
    await at.publisher.settle(runId)
    return at.repository.checkRuns().find(({ externalId }) => externalId === runId)
  }

  it('a commit of a person on the branch stays, and the next run says so', async () => {
    await published()
    const commit = await at.repository.humanCommit('remora/main', { 'c.py': 'c = 1\n' })
    const runId = await published({ changes: other })
    expect(await publicationOf(runId)).toMatchObject({ fault: { errorCode: 'PUBLISH_002' }, pulls: [] })
    expect(await at.repository.tip('remora/main')).toBe(commit)
    const check = at.repository.checkRuns().find(({ externalId }) => externalId === runId)
    expect(check).toMatchObject({ conclusion: 'neutral' })
    expect(check?.output.summary).toContain('PUBLISH_002')
  })

  it.each(['taken back', 'written anew'])(
    'where the base branch is %s the pull request is made anew, and a commit of a person on it stays',
    async (how) => {
      const first = (await at.repository.tip('main')) ?? ''
      await at.repository.humanCommit('main', { 'c.py': 'c = 1\n' })
      await published()
      const base =
        how === 'taken back' ? first : await at.repository.humanCommit('main', { 'c.py': 'c = 2\n' }, { parent: first })
      await at.repository.git(['update-ref', 'refs/heads/main', base])
      await at.publisher.takeAll()
      const runId = await published({ changes: other })
      expect(await publicationOf(runId)).toMatchObject({ fault: null, pulls: [{ number: 1, base, state: 'open' }] })
      expect((await at.repository.commits('main..remora/main')).map(({ parents }) => parents)).toEqual([[base]])
      expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('a.py\nb.py')
      await at.repository.humanCommit('remora/main', { 'd.py': 'd = 1\n' })
      await at.repository.git(['update-ref', 'refs/heads/main', first])
      const next = await published()
      expect(await publicationOf(next)).toMatchObject({ fault: { errorCode: 'PUBLISH_002' } })
    },
  )

  it('outside of the times of the schedule a pull request waits, but for somebody who asks for it', async () => {
    const farMonth = ((new Date().getUTCMonth() + 6) % 12) + 1
    await at.repository.humanCommit('main', { 'remora.yaml': `github: { schedule: ['* * * ${farMonth} *'] }\n` })
    const runId = await play()
    await at.publisher.look(runId)
    expect(at.repository.pulls()).toEqual([])
    const check = at.repository.checkRuns().find(({ externalId }) => externalId === runId)
    expect(check?.output.summary).toMatch(/it waits for \d{4}\S+01 00:00 UTC .*github\.schedule/)
    const { publication } = await at.publisher.ledger.getRun(runId)
    if (publication === null) throw new Error('nothing is known of the publication')
    await at.publisher.ledger.notePublication(runId, { publication: { ...publication, isAsked: true } })
    await at.publisher.settle(runId)
    expect(at.repository.pulls()).toHaveLength(1)
  })

  it.each(['in the moment of the write', 'before GitHub asks to wait', 'after GitHub has asked to wait'])(
    'a person who commits to the branch %s is not overwritten',
    async (moment) => {
      await published()
      const runId = await play({ changes: other })
      const { github } = at.publisher
      if (moment.includes('wait')) github.faults.add({ how: 'secondary_limit', retryAfterSeconds: 30, path: /graphql/ })
      let commit: string | undefined
      github.watch(async ({ path, when }) => {
        const isMeant = path === '/graphql' && when === (moment.startsWith('after') ? 'after' : 'before')
        if (!isMeant) return
        github.watch(() => {})
        commit = await at.repository.humanCommit('remora/main', { 'c.py': 'c = 1\n' })
      })
      await at.publisher.settle(runId)
      expect(commit).toBeDefined()
      expect(await at.repository.tip('remora/main')).toBe(commit)
      expect(await publicationOf(runId)).toMatchObject({ fault: { errorCode: 'PUBLISH_002' } })
    },
  )

  it('a pull request that a person opens again is kept, and what it has is proposed again', async () => {
    const runId = await published()
    await at.repository.closePull(1)
    await at.publisher.takeAll()
    await at.repository.reopenPull(1)
    await toldOf(runId)
    expect(await publicationOf(runId)).toMatchObject({ pulls: [{ number: 1, state: 'open' }] })
    const next = await published({ changes: other })
    expect(await publicationOf(next)).toMatchObject({ fault: null, pulls: [{ number: 1, state: 'open' }] })
    expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('a.py\nb.py')
  })

  it('a pull request that a person opens again stays open where its close is heard of afterwards', async () => {
    const runId = await published()
    await at.publisher.takeAll()
    at.publisher.github.webhooks.drop(1, 'pull_request')
    await at.repository.closePull(1)
    await at.repository.reopenPull(1)
    await at.publisher.takeAll()
    await at.publisher.reconcile()
    await toldOf(runId)
    expect(at.repository.pulls()).toMatchObject([{ state: 'open' }])
    expect(await publicationOf(runId)).toMatchObject({ pulls: [{ number: 1, state: 'open' }] })
    expect(at.repository.comments()).toEqual([])
  })

  it('what is accepted late in an older run comes into the pull request of the newer one', async () => {
    const older = await play()
    const newer = await published({ changes: other })
    await at.publisher.settle(older)
    await at.publisher.settle(newer)
    expect(at.repository.pulls()).toHaveLength(1)
    expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('a.py\nb.py')
    await at.publisher.settle(older)
    expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('a.py\nb.py')
  })

  it.each(['merge', 'squash'] as const)(
    'a pull request that a person merges by %s is done, and the branch that stays is used again',
    async (method) => {
      const runId = await published()
      await at.repository.mergePull(1, { method })
      await toldOf(runId)
      expect(await publicationOf(runId)).toMatchObject({ fault: null, pulls: [{ number: 1, state: 'merged' }] })
      expect(at.repository.pulls()).toHaveLength(1)
      const files = { 'a.py': 'a = 2\n', 'b.py': 'b = 1\n', 'README.md': '# Shop\n' }
      const next = await published({ changes: other, files })
      expect(await publicationOf(next)).toMatchObject({ fault: null, pulls: [{ number: 2 }] })
      expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('b.py')
    },
  )

  it('a branch that a person deletes is made anew for later changes only', async () => {
    const runId = await published()
    await at.repository.closePull(1)
    await at.repository.deleteBranch('remora/main')
    await toldOf(runId)
    expect(await at.repository.branches()).toEqual(['main'])
    const next = await published({ changes: other })
    expect(await publicationOf(next)).toMatchObject({ fault: null, pulls: [{ number: 2, state: 'open' }] })
  })

  it.each([
    ['the newest commit where other files were pushed', 'c.py', 'after'],
    ['the commit of the run where the same file was pushed', 'a.py', 'before'],
  ] as const)('changes are made on %s', async (_, path, expected) => {
    const runId = await play()
    const commits = { before: await at.repository.tip('main'), after: '' }
    commits.after = await at.repository.humanCommit('main', { [path]: 'a = 7\n' })
    await at.publisher.settle(runId)
    expect(await publicationOf(runId)).toMatchObject({ pulls: [{ base: commits[expected] }] })
    expect(await at.repository.read('main', path)).toBe('a = 7\n')
  })

  it('a branch that is gone gets no pull request', async () => {
    await at.repository.humanCommit('topic', { 'c.py': 'c = 1\n' })
    const commit = (await at.repository.tip('topic')) ?? ''
    const runId = await play({ source: { branch: 'topic', ref: 'refs/heads/topic', commit } })
    await at.repository.deleteBranch('topic')
    await at.publisher.settle(runId)
    expect(await publicationOf(runId)).toMatchObject({ fault: { errorCode: 'HOST_004' }, pulls: [] })
    expect(await at.repository.branches()).toEqual(['main'])
  })

  it('a repository that has another name by now is published to', async () => {
    const runId = await play()
    at.repository.rename('renamed')
    await at.publisher.takeAll()
    await at.publisher.settle(runId)
    expect(await publicationOf(runId)).toMatchObject({ fault: null, pulls: [{ number: 1 }] })
  })

  it('tokens that GitHub has ended are replaced', async () => {
    const runId = await play()
    await at.publisher.look(runId)
    at.publisher.github.expireTokens()
    await at.publisher.settle(runId)
    expect(await publicationOf(runId)).toMatchObject({ fault: null, pulls: [{ number: 1 }] })
  })

  // The last one: nobody installs the app again.
  it.each<[string, string, () => unknown, (() => unknown)?]>([
    [
      'the permission to write',
      'HOST_003',
      () => at.publisher.installation.setPermissions({ contents: 'read' }),
      () => at.publisher.installation.setPermissions(at.publisher.github.app.permissions),
    ],
    [
      'the app, suspended,',
      'HOST_002',
      () => at.publisher.installation.suspend(),
      () => at.publisher.installation.unsuspend(),
    ],
    ['the repository', 'HOST_003', () => at.repository.vanish()],
    ['the app', 'HOST_002', () => at.publisher.installation.uninstall()],
  ])('without %s it ends with %s, the run stays, and what comes back works', async (_, errorCode, lose, regain) => {
    const runId = await play()
    await lose()
    await at.publisher.takeAll()
    await at.publisher.settle(runId)
    expect(await publicationOf(runId)).toMatchObject({ fault: { errorCode }, pulls: [] })
    expect((await at.publisher.ledger.getRun(runId)).status).toBe('completed')
    if (regain === undefined) return
    await regain()
    await at.publisher.takeAll()
    await at.publisher.settle(runId)
    expect(await publicationOf(runId)).toMatchObject({ fault: null, pulls: [{ number: 1 }] })
  })
})
