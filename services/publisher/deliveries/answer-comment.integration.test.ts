import { describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { lacks } from '#testing/this-machine.ts'
import { usePublisher } from '../published-run.fixture.ts'

const changes = [
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

  describe('that rejects', () => {
    it('says that the changes leave the branch, and a second time that they were rejected before', async () => {
      const runId = await at.published({ changes })
      expect(await say('/remora reject a.py', runId)).toContain('1 change rejected; it leaves this branch in a moment.')
      expect(await say('/remora reject a.py', runId)).toContain('What changes `a.py` was rejected before.')
      expect(await say('/remora reject *.py', runId)).toContain('1 change rejected; it leaves')
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
      expect(answer?.body).toContain('it leaves this branch at the next time of `github.schedule`')
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
