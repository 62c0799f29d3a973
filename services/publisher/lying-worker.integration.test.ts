import { beforeEach, describe, expect, it } from 'vitest'
import type { FileChange } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import { lacks } from '#testing/this-machine.ts'
import { type PlayedRun, usePublisher } from './published-run.fixture.ts'
import type { TestPublisher } from './test-publisher.fixture.ts'

// The words are put in later, so that no scanner takes it for one.
const words = 'PRIVATE KEY'
const key = `-----BEGIN ${words}-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(8)}\n-----END ${words}-----\n`
const creating = (path: string, content = 'x = 1\n'): FileChange => ({ kind: 'create', path, content })

/** What a worker under somebody else's control may store as the changes of a run. */
const lies: [string, Partial<PlayedRun>, string?][] = [
  ['a file beside the repository', { changes: [{ name: 'one', files: [creating('../x.py')] }] }, 'STORE_003'],
  [
    'a change of what the branch does not have',
    { files: { 'a.py': 'a = 5\n' }, changes: [{ name: 'one', path: 'a.py', from: '5', to: '6' }] },
  ],
  [
    'another result than its changes make',
    {
      changes: [{ name: 'one', path: 'a.py', from: '1', to: '2' }],
      lie: (files) => files.map((file) => ({ ...file, resultHash: sha256('a = 666\n') })),
    },
  ],
  [
    'changes of a file that none of them changes',
    {
      changes: [{ name: 'one', path: 'a.py', from: '1', to: '2' }],
      lie: (files) => files.map((file) => ({ ...file, path: 'b.py' })),
    },
  ],
  [
    'a change whose check has failed',
    {
      changes: [{ name: 'one', path: 'a.py', from: '1', to: '2' }],
      lie: (files) =>
        files.map((file) => ({
          ...file,
          evidence: [{ check: 'tests_pass', path: file.path, ok: false, tool: 'pytest' }],
        })),
    },
  ],
  [
    'what nobody has accepted',
    {
      changes: [
        { name: 'one', path: 'a.py', from: '1', to: '2' },
        { name: 'two', path: 'b.py', from: '1', to: '666', isPending: true },
      ],
      composesPending: true,
    },
  ],
]

describe.skipIf(lacks('git'))('a worker that lies', () => {
  const at = usePublisher()
  beforeEach(() => addOddEntries(at.repository))

  it.each(lies)('cannot publish %s', async (_, played, errorCode = 'PUBLISH_001') => {
    const runId = await at.play({ changes: [], ...played })
    const before = at.publisher.github.requests.length
    await at.publisher.settle(runId)
    expect(await at.publisher.publicationOf(runId)).toMatchObject({ fault: { errorCode }, pulls: [] })
    const written = at.publisher.github.requests.slice(before).filter(({ method }) => method !== 'GET')
    expect(written.filter(({ path }) => !/access_tokens$|check-runs(?:\/\d+)?$/.test(path))).toEqual([])
    expect(await at.repository.branches()).toEqual(['main'])
  })

  it('has left out what must not be published, each with its reason, and the rest goes on', async () => {
    const bad: [path: string, reason: string, content?: string][] = [
      ['.github/workflows/x.yml', 'is run by the code host'],
      ['AGENTS.md', 'acts on its own'],
      ['two\nlines.py', 'has a control character'],
      ['key.py', 'would have what looks like a secret in line 1', key],
      ['link/x.py', 'is, or leads through, the link'],
      ['sub/x.py', 'is, or is inside, the submodule'],
    ]
    // Beside the file that is refused, each change has one that is not.
    const changes = bad.map(([path, , content], nth) => {
      return { name: `bad${nth}`, files: [creating(`half${nth}.py`), creating(path, content)] }
    })
    const good = { name: 'good', path: 'a.py', from: '1', to: '2' }
    const needing = { name: 'needing', builtOn: 'bad5', files: [creating('needing.py')] }
    const runId = await at.play({ changes: [...changes, good, needing] })
    await at.publisher.settle(runId)
    const head = (await at.repository.tip('remora/main')) ?? ''
    expect(await at.repository.git(['show', '--name-only', '--format=', head])).toBe('a.py')
    expect(await at.publisher.publicationOf(runId)).toMatchObject({ fault: null, pulls: [{ number: 1 }] })
    const said = JSON.stringify(at.repository.checkRuns())
    expect(said).toContain('needing.py is changed by lint on top of what is left out')
    for (const [path, reason] of bad) {
      expect(said).toContain(`${path.split('\n').at(-1)} ${reason}`)
      expect(said).not.toContain('MIIEvQ')
    }
  })
})

/** A link and a submodule, which the API of people's commits has not. */
async function addOddEntries({ git, tip }: TestPublisher['repository']): Promise<void> {
  const head = (await tip('main')) ?? ''
  const index = ['-c', 'core.bare=true']
  await git([...index, 'read-tree', head])
  const blob = await git(['rev-parse', `${head}:README.md`])
  await git([...index, 'update-index', '--add', '--cacheinfo', `120000,${blob},link`])
  await git([...index, 'update-index', '--add', '--cacheinfo', `160000,${head},sub`])
  const tree = await git([...index, 'write-tree'])
  const person = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.org']
  const commit = await git([...person, 'commit-tree', tree, '-p', head, '-m', 'Odd entries'])
  await git(['update-ref', 'refs/heads/main', commit])
}
