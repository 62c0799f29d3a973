import { expect, it } from 'vitest'
import { RepoPath } from '#domain/repo-path.ts'
import { aNewRun } from '#testing/open-test-ledger.ts'
import { pullText, type PullParts } from './pull-text.ts'

it('a pull request with many long names stays within what GitHub takes, with all that comes after them', () => {
  const paths = Array.from({ length: 300 }, (_, at) => RepoPath.parse(`${'folder/'.repeat(30)}file${at}.py`))
  const { runId } = aNewRun()
  const sets = paths.map((path, at) => [`c${at}`, { path, qualifiedName: 'name'.repeat(80) }] as const)
  const files = paths.map((path) => ({ path, executable: false, content: Buffer.from('x'), baseHash: null }))
  const { title, body } = pullText({
    run: { runId, commit: null },
    composition: { files: [], gate: undefined },
    commits: [{ agent: 'lint', changeSetIds: sets.map(([id]) => id), files }],
    target: 'main',
    carried: 0,
    descriptions: new Map([['lint', 'Fixes @everybody <script>'.repeat(40)]]),
    nodes: new Map(sets),
    left: 0,
    lost: 0,
    runUrl: undefined,
    isRehearsal: false,
    takesComments: true,
  } satisfies PullParts)
  expect(body.length).toBeLessThan(65_536)
  expect(body).toContain('/remora reject PATH')
  expect(body).toContain(runId)
  expect(body.match(/<details>/g)).toHaveLength(1)
  expect(body.match(/<\/details>/g)).toHaveLength(1)
  expect(body).toMatch(/- and \d+ more/)
  expect(title).toBe('Fix lint findings in 300 files')
})
