import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { plantedSecrets } from '#testing/planted-secrets.ts'
import { lacks } from '#testing/this-machine.ts'
import { type PlayedEnding, playedSetId } from '../../services/api/played-run.fixture.ts'
import { base, proposing as propose } from './proposed-commits.fixture.ts'
import { useRemote } from './published-to-remote.fixture.ts'

describe.skipIf(lacks('git'))('remora publish --to', () => {
  const at = useRemote()
  const { bare, commit, publish } = at
  const proposing = (all: readonly PlayedEnding[]) => propose(at.api, all)

  it('leaves out whole change sets with what must not be pushed, and what needs them, says so, and pushes the rest', async () => {
    await symlink('.', join(at.dir, 'local/link'))
    await commit('a link')
    const changes: PlayedEnding[] = [
      {
        name: 'flow',
        changes: [base.creating('.github/workflows/x.yml', 'on: push\n'), base.creating('half.py', 'H = 1\n')],
      },
      { name: 'rules', changes: [base.creating('AGENTS.md', 'Be kind.\n')] },
      { name: 'key', changes: [base.creating('key.py', `k = ${plantedSecrets[0]?.code}\n`), base.deleting('run.sh')] },
      { name: 'behind', changes: [base.creating('link/b.py', 'B = 1\n')] },
      { name: 'twin', changes: [base.creating('A.py', 'A = 1\n')] },
      { name: 'needs', builtOn: ['twin'], agent: 'docstring', changes: [base.creating('c.py', 'C = 1\n')] },
      { name: 'good', changes: [base.creating('b.py', 'B = 1\n')] },
    ]
    const runId = await proposing(changes)
    const { err, out } = await publish(runId)
    expect(
      err
        .replaceAll(/ \([^()]*\)$/gm, '')
        .split('\n')
        .toSorted(),
    ).toEqual([
      '',
      'not pushed (PUBLISH_001): .github/workflows/x.yml is run by the code host, which nobody has allowed',
      'not pushed (PUBLISH_001): A.py is the same file as "a.py" where case does not count',
      'not pushed (PUBLISH_001): AGENTS.md acts on its own, which nobody has allowed',
      'not pushed (PUBLISH_001): c.py is changed by a change set that is left out, or that needs one that is',
      'not pushed (PUBLISH_001): half.py is changed by a change set that is left out, or that needs one that is',
      'not pushed (PUBLISH_001): key.py would have what looks like a secret in line 1',
      'not pushed (PUBLISH_001): link/b.py is, or leads through, the link "link"',
      'not pushed (PUBLISH_001): run.sh is changed by a change set that is left out, or that needs one that is',
    ])
    expect(out).toMatch(/^Fix lint findings in 1 file\n1 commit pushed/)
    expect(await bare('show', '--name-only', '--format=', 'remora/main')).toBe('b.py')
    const allowed = await publish(
      runId,
      '--json',
      '--allow-workflows',
      '--allow-path',
      'AGENTS.md',
      '--branch',
      'remora/more',
    )
    const { withheld } = z.looseObject({ withheld: z.array(z.unknown()) }).parse(JSON.parse(allowed.out))
    const [twin] = changes.flatMap((one) => (one.name === 'twin' ? playedSetId(one, changes) : []))
    const reason = expect.stringContaining('is the same file')
    expect(withheld).toContainEqual({ path: 'A.py', error_code: 'PUBLISH_001', reason, change_set_ids: [twin] })
    expect((await bare('show', '--name-only', '--format=', 'remora/more')).split('\n')).toEqual([
      '.github/workflows/x.yml',
      'AGENTS.md',
      'b.py',
      'half.py',
    ])
  })

  it('pushes nothing where nothing is left', async () => {
    const evil: PlayedEnding[] = [{ name: 'evil', changes: [base.creating('.github/workflows/x.yml', 'on: push\n')] }]
    await expect(publish(await proposing(evil))).rejects.toMatchObject({ code: 'PUBLISH_001' })
  })
})
