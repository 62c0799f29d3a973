import { describe, expect, it } from 'vitest'
import { plantedSecrets } from '#testing/planted-secrets.ts'
import { lacks } from '#testing/this-machine.ts'
import type { PlayedEnding } from '../../services/api/played-run.fixture.ts'
import { base, proposing } from './proposed-commits.fixture.ts'
import { useRemote } from './published-to-remote.fixture.ts'

const flow = base.creating('.github/workflows/x.yml', 'on: push\n')

describe.skipIf(lacks('git'))('remora publish --to', () => {
  const at = useRemote()
  const { bare, publish } = at

  it('leaves out whole change sets with what must not be pushed, says so, and pushes the rest', async () => {
    const changes: PlayedEnding[] = [
      { name: 'flow', changes: [flow, base.creating('half.py', 'H = 1\n')] },
      { name: 'rules', changes: [base.creating('AGENTS.md', 'Be kind.\n')] },
      { name: 'key', changes: [base.creating('key.py', `k = ${plantedSecrets[0]?.code}\n`)] },
      { name: 'good', changes: [base.creating('b.py', 'B = 1\n')] },
    ]
    const runId = await proposing(at.api, changes)
    const { err, out } = await publish(runId)
    expect(
      err
        .replaceAll(/ \([^()]*\)$/gm, '')
        .trim()
        .split('\n')
        .toSorted(),
    ).toEqual([
      'not pushed (PUBLISH_001): .github/workflows/x.yml is run by the code host, which nobody has allowed',
      'not pushed (PUBLISH_001): AGENTS.md acts on its own, which nobody has allowed',
      'not pushed (PUBLISH_001): half.py is changed by a change set that is left out, or that needs one that is',
      'not pushed (PUBLISH_001): key.py would have what looks like a secret in line 1',
    ])
    expect(out).toMatch(/^Fix lint findings in 1 file\n1 commit pushed/)
    expect(await bare('show', '--name-only', '--format=', 'remora/main')).toBe('b.py')
    const allowing = ['--json', '--allow-workflows', '--allow-path', 'AGENTS.md', '--branch', 'remora/more']
    expect(JSON.parse((await publish(runId, ...allowing)).out)).toMatchObject({ withheld: [{ path: 'key.py' }] })
    const pushed = await bare('show', '--name-only', '--format=', 'remora/more')
    expect(pushed.split('\n')).toEqual(['.github/workflows/x.yml', 'AGENTS.md', 'b.py', 'half.py'])
  })

  it('pushes nothing where nothing is left', async () => {
    const runId = await proposing(at.api, [{ name: 'evil', changes: [flow] }])
    await expect(publish(runId)).rejects.toMatchObject({ code: 'PUBLISH_001' })
  })
})
