import { describe, expect, it } from 'vitest'
import type { PlannedFile } from '#domain/planned-commit.ts'
import { commitMessage, type CommitWords, jointTitle } from './commit-message.ts'

const file = (path: string, others: Partial<PlannedFile> = {}): PlannedFile => {
  return { path, executable: false, content: Buffer.from('x'), baseHash: 'h', ...others }
}
const words: CommitWords = {
  run: { runId: 'r012345678' },
  nodes: new Map([
    ['c1', { path: 'a.py', qualifiedName: 'Shop.total' }],
    ['c2', { path: 'a.py', qualifiedName: 'a.py' }],
  ]),
  sets: new Map([
    ['c1', { rules: ['UP035', 'F401'] }],
    ['c2', { rules: ['F401', 'I001'] }],
  ]),
  descriptions: new Map([['translate', 'Translate comments, where they are in German.']]),
}

describe('the message of a commit', () => {
  it('says what the agent did to which definitions, and names the run in its last lines', () => {
    const files = [file('a.py'), file('b.py', { baseHash: null }), file('c.py', { content: null })]
    expect(commitMessage({ agent: 'lint', changeSetIds: ['c1', 'c2'], files }, words)).toBe(
      [
        'Fix lint findings in 3 files',
        '',
        'Lint rules: F401, I001, UP035',
        '',
        '- a.py: Shop.total',
        '- b.py (new)',
        '- c.py (deleted)',
        '',
        'Remora-Run: r012345678',
        'Remora-Agent: lint',
        '',
      ].join('\n'),
    )
  })

  it.each([
    ['translate', 'Translate comments in 1 file'],
    ['unknown', 'Apply agent unknown in 1 file'],
    ['a'.repeat(64), `Apply agent ${'a'.repeat(39)}… in 1 file`],
  ])('is also in the imperative for %s', (agent, title) => {
    expect(commitMessage({ agent, changeSetIds: [], files: [file('a')] }, words).split('\n')[0]).toBe(title)
  })

  it.each([
    [['lint'], 'Fix lint findings'],
    [['lint', 'translate', 'test'], 'Fix lint findings, translate comments and add tests'],
    [['long', 'lint'], 'Rewrite each comment of the whole code base so that it is easy and more'],
    [['a'.repeat(64), 'long', 'test'], `Apply agent ${'a'.repeat(39)}… and more`],
    [['long'], 'Rewrite each comment of the whole code base so that it is easy'],
  ])('has one title with those of %j, of at most 72 characters', (agents, title) => {
    const long = 'Rewrite each comment of the whole code base so that it is easy'
    const descriptions = new Map([...words.descriptions, ['long', long]])
    const commits = agents.map((agent) => ({ agent, changeSetIds: [], files: [file('a')] }))
    expect(jointTitle(commits, { descriptions })).toBe(title)
  })

  it('names whole definitions, as many as have room in a line', () => {
    const names = Array.from(
      { length: 30 },
      (_, at) => [`n${at}`, { path: 'a.py', qualifiedName: `Normalizer.visit_${at}` }] as const,
    )
    const commit = { agent: 'docstring', changeSetIds: names.map(([id]) => id), files: [file('a.py')] }
    const [, , line = ''] = commitMessage(commit, { ...words, nodes: new Map(names) }).split('\n')
    expect(line).toBe(
      '- a.py: Normalizer.visit_0, Normalizer.visit_1, Normalizer.visit_10, Normalizer.visit_11 and 26 more',
    )
  })

  it('stays short for many files', () => {
    const files = Array.from({ length: 400 }, (_, at) => file(`a${at}.py`))
    const message = commitMessage({ agent: 'lint', changeSetIds: [], files }, words)
    expect(message).toContain('- and 350 more\n')
  })
})
