import { beforeEach, describe, expect, it } from 'vitest'
import type { Evidence } from '#domain/change-set.ts'
import type { RunId } from '#domain/ids.ts'
import { shownMarkdown } from '#stages/publish/shown-markdown.fixture.ts'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { type PlayedRun, usePublisher } from '../published-run.fixture.ts'
import { handleDelivery } from './handle-delivery.ts'
import type { TestPublisher } from '../test-publisher.fixture.ts'

const one = { name: 'one', path: 'a.py', from: '1', to: '2' } as const
const two = { name: 'two', agent: 'docstring', path: 'b.py', from: '1', to: '3' } as const

describe.skipIf(lacks('git'))('what people ask for', () => {
  const at = usePublisher()
  let publisher: TestPublisher
  let repository: TestPublisher['repository']
  beforeEach(() => {
    publisher = at.publisher
    repository = at.repository
  })

  async function published(played: Partial<PlayedRun> = {}): Promise<RunId> {
    const runId = await at.play({ changes: [one, two], ...played })
    await publisher.settle(runId)
    return runId
  }
  async function press(identifier: string, runId: RunId, by?: string): Promise<void> {
    const check = repository.checkRuns().find(({ externalId }) => externalId === runId)
    repository.requestAction(check?.id ?? 0, identifier, by === undefined ? {} : { by })
    await takeAndSettle(runId)
  }
  async function say(text: string, runId: RunId, by?: string): Promise<string[]> {
    const asked = repository.comment(1, text, by === undefined ? {} : { by })
    await takeAndSettle(runId)
    return answersTo(asked.id)
  }
  async function takeAndSettle(runId: RunId): Promise<void> {
    await publisher.takeAll()
    await publisher.settle(runId)
  }
  const answersTo = (id: number) =>
    repository.comments().flatMap(({ body }) => (body.includes(`remora:answer-${id} `) ? body : []))
  const buttonsOf = (runId: RunId) =>
    repository
      .checkRuns()
      .find(({ externalId }) => externalId === runId)
      ?.actions.map(({ identifier }) => identifier)

  it('is done as well when it comes at the very end of what is done for the run', async () => {
    const runId = await at.play({ changes: [one, two] })
    const { publishing } = publisher.host()
    let isAsked = false
    publisher.github.watch(async ({ method, path, when }) => {
      if (isAsked || method === 'GET' || !path.includes('check-runs') || when === 'before') return
      isAsked = true
      await publishing.look(runId, Date.now())
    })
    await until(async () => {
      await publisher.look(runId)
      return isAsked
    })
    expect(await publisher.publicationOf(runId)).toMatchObject({ isSettled: true })
    expect(await publishing.due(Date.now(), 100)).toContain(runId)
    await publisher.settle(runId)
    expect(await publishing.due(Number.MAX_SAFE_INTEGER, 100)).not.toContain(runId)
  })

  describe('by the buttons of a check run', () => {
    it('accepts all, for who may write', async () => {
      const runId = await published({ changes: [one, { ...two, isPending: true }] })
      expect(await repository.read('remora/main', 'b.py')).toBe('b = 1\n')
      expect(buttonsOf(runId)).toContain('accept_all')
      await press('accept_all', runId, 'mallory')
      expect(await repository.read('remora/main', 'b.py')).toBe('b = 1\n')
      await press('accept_all', runId)
      expect(await repository.read('remora/main', 'b.py')).toBe('b = 3\n')
      expect(repository.pulls()).toHaveLength(1)
      expect((await publisher.ledger.readDecisions(runId)).byChangeSet.values().toArray()).toMatchObject([
        { verdict: 'accepted' },
        { verdict: 'accepted', by: 'human/github/ada' },
      ])
    })

    it("opens a pull request for a person's own branch, and for nobody else", async () => {
      await repository.humanCommit('topic', { 'c.py': 'c = 1\n' })
      const commit = (await repository.tip('topic')) ?? ''
      const source = { branch: 'topic', ref: 'refs/heads/topic', commit, pullRequest: 7 }
      const runId = await published({ source })
      expect(repository.pulls()).toEqual([])
      await press('open_pull_request', runId, 'mallory')
      expect(repository.pulls()).toEqual([])
      await press('open_pull_request', runId)
      expect(repository.pulls()).toMatchObject([{ base: { ref: 'topic' }, head: { ref: 'remora/topic' } }])
    })

    it('dismisses a run: nothing of it is published any more', async () => {
      const runId = await published({ changes: [{ ...one, isPending: true }] })
      await press('dismiss', runId, 'mallory')
      expect(buttonsOf(runId)).toContain('dismiss')
      await press('dismiss', runId)
      expect(repository.pulls()).toEqual([])
      expect(buttonsOf(runId)).toEqual([])
    })
  })

  describe('by comments', () => {
    it('says nothing to who may not write, to bots, and to what is no command', async () => {
      const runId = await published()
      const command = '/remora reject a.py'
      repository.comment(1, command, { by: 'mallory' })
      repository.comment(1, command, { by: 'other[bot]' })
      repository.comment(1, `> ${command}`)
      await takeAndSettle(runId)
      expect(repository.comments()).toHaveLength(3)
      expect(await repository.read('remora/main', 'a.py')).toBe('a = 2\n')
    })

    it('closes a pull request of which all is rejected', async () => {
      const runId = await published()
      await say('/remora reject *.py', runId)
      expect(repository.pulls()).toMatchObject([{ state: 'closed' }])
      expect(await publisher.publicationOf(runId)).toMatchObject({ fault: null, pulls: [{ state: 'closed' }] })
      await takeAndSettle(runId)
      expect(repository.comments()).toHaveLength(3)
    })

    it('answers what it cannot do, without a word that has a meaning for GitHub', async () => {
      const runId = await published()
      const [nothing] = await say('/remora reject @ada <img src=x> fixes #1', runId)
      expect(nothing).toContain('Nothing here changes `@ada <img src=x> fixes #1`')
      const [empty] = await say('/remora reject', runId)
      expect(empty).toContain('Say of what')
      const [garbage] = await say(`/remora explain ${'x'.repeat(2_000)}`, runId)
      expect(garbage).toContain('Nothing here changes `xxx')
    })

    it('explains what did not pass first, and the rest to whoever asks', async () => {
      const proof = { path: 'a.py', ok: true, tool: 'test' }
      const evidence: Evidence[] = [
        { ...proof, check: 'says_something', ok: false, detail: 'only the name' },
        { ...proof, check: 'not_checked', of: 'tests_pass', detail: 'no runner' },
      ]
      const runId = await published({ changes: [{ ...one, model: 'acme/small', evidence, isPending: true }, two] })
      const [explained = ''] = await say('/remora explain a.py', runId)
      const [open = '', hidden = ''] = explained.split('<details><summary>1 check passed</summary>')
      expect(open).toContain('| `says_something` | failed | `test` | only the name |\n| `tests_pass` | not checked |')
      expect(open).not.toContain('`parses`')
      expect(hidden).toMatch(
        /^\n\n\| check .*\n.*\n\| `parses` \| passed \|.*\n\n<\/details>\n\nOperation .* by `acme\/small`:/,
      )
    })

    it('explains what was done for a file or a definition, also by an earlier run', async () => {
      await published({ changes: [one] })
      const runId = await published({ changes: [two] })
      const [ofOne] = await say('/remora explain a.py', runId)
      expect(ofOne).toContain('`lint` on `a.py one`')
      const [ofTwo] = await say('/remora explain two', runId)
      expect(ofTwo).toContain('`docstring` on `b.py two`')
      const [, operation = ''] = /Operation `(\w+)`/.exec(ofOne ?? '') ?? []
      expect(await say(`/remora explain ${operation}`, runId)).toEqual([
        expect.stringContaining('`lint` on `a.py one`'),
      ])
    })

    it('names the lint rules whose fixes were made in commit and pull request', async () => {
      await published({ changes: [{ ...one, rules: ['I001', 'F401'] }] })
      expect(await repository.git(['log', '-1', '--format=%b', 'remora/main'])).toContain('Lint rules: F401, I001\n')
      expect(repository.pulls()[0]?.body).toContain('(rules `F401`, `I001`)')
    })

    it('explains in the words of a model, none of which has a meaning for GitHub', async () => {
      const summary = 'Done | @everyone fixes #1, closes GH-2 <img src=x> [a](https://evil.example)\r\n# Heading'
      const runId = await published({ changes: [{ ...one, summary }] })
      const [explained = ''] = await say('/remora explain a.py', runId)
      const shown = shownMarkdown(explained)
      const words = shown.flatMap(({ type, content }) => (type === 'text' ? content : [])).join('')
      expect(words).toContain('everyone')
      expect(words).not.toMatch(/@e|#\d|GH-\d|https?:\/\//)
      expect(shown.filter(({ type }) => /^(?:link_open|image|html_inline|heading_open)$/.test(type))).toEqual([])
    })

    it('does not retry a run that was begun with another kind of model', async () => {
      const request = { labels: { 'remora.model': 'rehearsal' } }
      const runId = await published({ changes: [one, { ...two, isFailed: true }], request })
      await publisher.startAgain('servers')
      const [refused] = await say('/remora retry', runId)
      expect(refused).toContain('was begun with the rehearsal model')
      expect((await publisher.ledger.getRun(runId)).generation).toBe(1)
      await publisher.startAgain()
    })

    it('reopens the run once, also when it is killed in between and hears of the comment again', async () => {
      const runId = await published({ changes: [one, { ...two, isFailed: true }] })
      const asked = repository.comment(1, '/remora retry')
      await publisher.github.webhooks.settled()
      const { handling } = publisher.host()
      const taken = await handling.inbox.take('killed', 10)
      for (const { delivery } of [...taken, ...taken]) await handleDelivery(delivery, handling)
      expect(await publisher.ledger.getRun(runId)).toMatchObject({ generation: 2, endedAt: null })
      expect(answersTo(asked.id)).toEqual([expect.stringContaining(`Run \`${runId}\` does again`)])
    })
  })

  describe('by ending a pull request', () => {
    const proposedAgain = async () => {
      await publisher.takeAll()
      await published()
      return repository.pulls().some(({ state }) => state === 'open')
    }

    it('closes it and deletes its branch right after: its changes are not proposed again, however late that is heard', async () => {
      await published()
      await repository.closePull(1)
      publisher.github.advance(2_000)
      await repository.deleteBranch('remora/main')
      expect(await proposedAgain()).toBe(false)
    })

    it('deletes its branch alone: it is made anew', async () => {
      await published()
      await repository.deleteBranch('remora/main')
      publisher.github.advance(2_000)
      expect(await proposedAgain()).toBe(true)
    })
  })
})
