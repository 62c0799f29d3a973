import { expect, it } from 'vitest'
import { shownMarkdown } from './shown-markdown.fixture.ts'
import { RepoPath } from '#domain/repo-path.ts'
import { aNewRun } from '#testing/open-test-ledger.ts'
import { pullText, type PullParts } from './pull-text.ts'

const parts: PullParts = {
  run: { runId: aNewRun().runId, commit: null },
  composition: { files: [], gate: undefined },
  commits: [],
  target: 'main',
  carried: 0,
  descriptions: new Map(),
  nodes: new Map(),
  sets: new Map(),
  left: 0,
  lost: 0,
  runUrl: undefined,
  isRehearsal: false,
  takesComments: true,
}

it('a pull request claims that only documentation has changed, but for a pass where one went with it', () => {
  const composed = (path: string, detail?: string, inPart?: true) => {
    const proof = { check: 'docstring_only' as const, path, ok: true, tool: 'tree-sitter-python' }
    const evidence = [{ ...proof, ...(detail && { detail }), ...(inPart && { inPart }) }]
    return { path, baseHash: null, resultHash: null, changeSetIds: [], evidence }
  }
  const proofOf = (...files: PullParts['composition']['files']) => {
    const { body } = pullText({ ...parts, composition: { files } })
    return body.split('\n').find((line) => line.includes('docstring_only'))
  }
  const detail = '1 `pass` went that a docstring makes needless'
  expect(proofOf(composed('a.py'))).toBe('| nothing but documentation has changed | 1 | `docstring_only` |')
  expect(proofOf(composed('a.py'), composed('b.py', undefined, true))).toBe(
    '| nothing but documentation has changed | 2, 1 of them for some of the changes | `docstring_only` |',
  )
  expect(proofOf(composed('a.py'), composed('b.py', detail))).toBe(
    '| nothing but documentation has changed, and in 1 file a `pass` or `...` went that it makes needless | 2 | `docstring_only` |',
  )
})

it('a pull request with many long names stays within what GitHub takes, with all that comes after them', () => {
  const paths = Array.from({ length: 300 }, (_, at) => RepoPath.parse(`${'folder/'.repeat(30)}file${at}.py`))
  const { runId } = parts.run
  const sets = paths.map((path, at) => [`c${at}`, { path, qualifiedName: 'name'.repeat(80) }] as const)
  const files = paths.map((path) => ({ path, executable: false, content: Buffer.from('x'), baseHash: null }))
  const { title, body } = pullText({
    ...parts,
    commits: [{ agent: 'lint', changeSetIds: sets.map(([id]) => id), files, lines: { added: 300, removed: 0 } }],
    descriptions: new Map([['lint', 'Fixes @everybody <script>'.repeat(40)]]),
    nodes: new Map(sets),
  })
  expect(body.length).toBeLessThan(65_536)
  expect(body).toContain('/remora reject PATH')
  expect(body).toContain(runId)
  expect(body.match(/<details>/g)).toHaveLength(1)
  expect(body.match(/<\/details>/g)).toHaveLength(1)
  expect(body).toMatch(/- and \d+ more/)
  expect(title).toBe('Fix lint findings')
})

it('a pull request says of each commit what it does by which rules, who made it, and how large it is', () => {
  const rules = Array.from({ length: 23 }, (_, at) => `E${100 + at}`)
  const commit = (agent: string, ...changeSetIds: string[]) => {
    return { agent, changeSetIds, files: [], lines: { added: changeSetIds.length, removed: 1 } }
  }
  const { body } = pullText({
    ...parts,
    commits: [commit('lint', 'c1', 'c2'), commit('docstring', 'c3')],
    sets: new Map([
      ['c1', { rules }],
      ['c2', { model: 'acme/small' }],
      ['c3', { model: 'a|b' }],
    ]),
  })
  const shown = shownMarkdown(body).filter(({ type }) => type === 'text' || type === 'code_inline')
  const words = shown.map(({ content }) => content).join(' ')
  expect(body).toMatch(
    /^\| `lint` \| +\(rules `E100`, `E101`, .*, `E119` and 3 more\) \| no model, `acme\/small` \| 2 \| 0 \| \+2 −1 \|$/m,
  )
  expect(body).toMatch(/^\| `docstring` \| +\| `a\\\|b` \| 1 \| 0 \| \+1 −1 \|$/m)
  expect(words).toContain('a|b')
})
