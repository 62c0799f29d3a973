import { describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { lacks } from '#testing/this-machine.ts'
import { type PlayedChange, usePublisher } from '../published-run.fixture.ts'

const changes: [PlayedChange, PlayedChange] = [
  { name: 'one', path: 'a.py', from: '1', to: '2' },
  { name: 'two', agent: 'docstring', path: 'b.py', from: '1', to: '3' },
]

describe.skipIf(lacks('git'))('the answer to a comment', () => {
  const at = usePublisher()

  async function say(text: string, runId: RunId, by?: string): Promise<string> {
    const { id } = at.repository.comment(1, text, by === undefined ? {} : { by })
    await at.publisher.takeAll()
    await at.publisher.settle(runId)
    const answers = at.repository.comments().flatMap(({ body }) => (body.includes(`remora:answer-${id} `) ? body : []))
    expect(answers.length).toBeLessThan(2)
    return answers[0] ?? ''
  }

  /** To the comments, without words. */
  const reactions = () => at.repository.comments().flatMap((one) => one.reactions.map(({ content }) => content))

  /** As a person does it in `remora review`. */
  async function acceptRejected(runId: RunId): Promise<void> {
    const { ledger } = at.publisher
    const { last, byChangeSet } = await ledger.readDecisions(runId)
    const rejected = [...byChangeSet.values()].filter(({ verdict }) => verdict === 'rejected')
    for (const { version: _version, at: _at, by: _by, byName: _name, ...one } of rejected) {
      const { node } = await ledger.getOperation(runId, one.operationId)
      const accepted = { ...one, node, before: 'rejected', verdict: 'accepted', reason: null } as const
      await ledger.decide(runId, { last, decisions: [accepted], by: { kind: 'human', id: 'ada' } })
    }
  }

  it('has a paragraph for each of its commands, once, all of which are done', async () => {
    const runId = await at.published({ changes })
    at.publisher.github.webhooks.double(1, 'issue_comment')
    const text = '/remora reject a.py\nand\n\n/remora explain b.py two\n/remora retry\n```\n/remora reject b.py\n```\n'
    const answer = await say(text, runId)
    expect(answer).toMatch(/^`\/remora reject a\.py`: 1 change rejected/)
    expect(answer).toMatch(/^`\/remora explain b\.py two`: `docstring` on `b\.py two`/m)
    expect(answer).toMatch(/^`\/remora retry`: That was not done/m)
    expect(await at.repository.read('remora/main', 'a.py')).toBe('a = 1\n')
    expect(await at.repository.read('remora/main', 'b.py')).toBe('b = 3\n')
  })

  it('says how many commands were too many', async () => {
    const runId = await at.published({ changes })
    const lines = [...Array.from({ length: 10 }, (_, count) => `/remora explain f${count}.py`), '/remora reject a.py']
    const answer = await say(lines.join('\n'), runId)
    expect(answer.match(/Nothing here changes/g)).toHaveLength(10)
    expect(answer).toContain('The last 1 command of this comment was not done: 10 are the most.')
    expect(await at.repository.read('remora/main', 'a.py')).toBe('a = 2\n')
  })

  it.each([
    ['/remora help', 'Remora takes these commands'],
    ['/remora', 'Remora takes these commands'],
    ['/remora foo @ada', 'There is no command `foo`.'],
    ['/remora REJECT a.py', 'There is no command `REJECT`.'],
  ])('to %s lists the commands, for people who may write, at a pull request of ours', async (text, said) => {
    const runId = await at.published({ changes })
    expect(await say(text, runId, 'mallory')).toBe('')
    expect(reactions()).toEqual(['-1'])
    const answer = await say(text, runId)
    expect(answer).toContain('- `/remora reject PATH` rejects')
    expect(answer).not.toContain('@ada')
    expect(answer).toContain(said)
  })

  it('at what is no pull request of ours is a reaction, once', async () => {
    await at.repository.humanCommit('topic', { 'a.py': 'a = 5\n' })
    const pull = await at.repository.openPull({ head: 'topic' })
    at.publisher.github.webhooks.double(1, 'issue_comment')
    at.repository.comment(pull.number, '/remora explain a.py')
    at.repository.comment(pull.number, 'Thanks, that is a fine `/remora`')
    await at.publisher.takeAll()
    expect(reactions()).toEqual(['confused'])
    expect(at.repository.comments()).toHaveLength(2)
  })

  it('that is too long for GitHub is cut, and does no half of a command', async () => {
    const runId = await at.published({ changes })
    const command = '/remora reject a.py'
    const cut = `${'x'.repeat(3_999 - command.length)}\n${command}.orig`
    expect(await say(cut, runId)).toBe('')
    expect(await at.repository.read('remora/main', 'a.py')).toBe('a = 2\n')
  })

  describe('that rejects', () => {
    it('says that the changes leave the branch, and a second time that they were rejected before', async () => {
      const runId = await at.published({ changes })
      expect(await say('/remora reject a.py', runId)).toContain('1 change rejected; it leaves this branch in a moment.')
      expect(await say('/remora reject a.py', runId)).toContain('What changes `a.py` was rejected before.')
      expect(await say('/remora reject *.py', runId)).toContain('1 change rejected; it leaves')
    })

    it('rejects one definition of a file, by its path and name, and nothing by a name alone', async () => {
      const runId = await at.published({ changes })
      expect(await say('/remora reject two', runId)).toContain('Nothing here changes `two`')
      expect(await say('/remora reject b.py two', runId)).toContain('1 change rejected')
      expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('a.py')
    })

    it('keeps the same change out of the pull requests of later runs, also where somebody accepts all of one', async () => {
      const runId = await at.published({ changes })
      await say('/remora reject a.py', runId)
      await at.repository.mergePull(1, { method: 'squash' })
      await at.publisher.takeAll()
      await at.publisher.settle(runId)
      const one = { name: 'one', path: 'a.py', from: '1', to: '2' }
      const added = { name: 'three', path: 'README.md', from: 'Shop', to: 'The shop' }
      const later = await at.published({ changes: [one, added] })
      expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('README.md')
      const wanted = await at.published({ changes: [{ ...one, isPending: true }], source: { since: { runId: later } } })
      const check = at.repository.checkRuns().find(({ externalId }) => externalId === wanted)
      at.repository.requestAction(check?.id ?? 0, 'accept_all', {})
      await at.publisher.takeAll()
      await at.publisher.settle(wanted)
      expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('README.md')
      expect((await at.publisher.ledger.readDecisions(wanted)).byChangeSet.size).toBe(0)
    })

    it('keeps nothing out that a person accepts afterwards, in the run or in a later one', async () => {
      const runId = await at.published({ changes })
      await say('/remora reject a.py', runId)
      expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('b.py')
      await acceptRejected(runId)
      await at.publisher.settle(runId)
      expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('a.py\nb.py')
      await at.published({ changes: [changes[0]], source: { since: { runId } } })
      expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('a.py\nb.py')
    })

    it('keeps out what nobody had decided on, too', async () => {
      const [one, two] = changes
      const runId = await at.published({ changes: [one, { ...two, isPending: true }] })
      expect(await say('/remora reject b.py', runId)).toContain('It is not proposed again.')
      await at.published({ changes: [two], source: { since: { runId } } })
      expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('a.py')
    })

    it('says that a branch with a commit of a person stays as it is, and what to do', async () => {
      const runId = await at.published({ changes })
      const commit = await at.repository.humanCommit('remora/main', { 'c.py': 'c = 1\n' })
      const answer = await say('/remora reject *.py', runId)
      expect(answer).toContain('2 changes rejected, but they stay on this branch')
      expect(answer).toContain('`PUBLISH_002`')
      expect(answer).toContain('Take them out with a commit of your own, or delete the branch')
      expect(answer).not.toContain('leave this branch')
      expect(await at.repository.tip('remora/main')).toBe(commit)
    })

    it('says that they leave it later where the schedule says so', async () => {
      const runId = await at.published({ changes })
      const farMonth = ((new Date().getUTCMonth() + 6) % 12) + 1
      await at.repository.humanCommit('main', { 'remora.yaml': `github: { schedule: ['* * * ${farMonth} *'] }\n` })
      const { id } = at.repository.comment(1, '/remora reject a.py')
      await at.publisher.takeAll()
      await at.publisher.look(runId)
      const answer = at.repository.comments().find(({ body }) => body.includes(`remora:answer-${id} `))
      expect(answer?.body).toMatch(
        /it leaves this branch when `github\.schedule` has its next time: \d{4}.*-01 00:00 UTC\./,
      )
      expect(await at.repository.read('remora/main', 'a.py')).toBe('a = 2\n')
    })

    it('says that it stays while remora.yaml is wrong, and where the pull request has ended', async () => {
      const runId = await at.published({ changes })
      await at.repository.humanCommit('main', { 'remora.yaml': 'github: { agent: lint }\n' })
      expect(await say('/remora reject a.py', runId)).toContain('it stays on this branch for now: `CONFIG_004`')
      await at.repository.mergePull(1)
      expect(await say('/remora reject b.py', runId)).toContain('1 change rejected. This pull request is merged')
    })
  })
})
