import { describe, expect, it } from 'vitest'
import type { Evidence } from '#domain/change-set.ts'
import { gitBlobId, type PlannedCommit, type PlannedFile } from '#domain/planned-commit.ts'
import { plantedSecrets, privateKey } from '#testing/planted-secrets.ts'
import {
  checkEvidence,
  checkPublishable,
  findRefused,
  type PublishBase,
  type PublishRule,
} from './check-publishable.ts'
import { openBase, setOf } from './composed.fixture.ts'
import { planCommits } from './plan-commits.ts'

const before = 'import os\nkey = load()\n'
const entry = (mode: string, text = before) => ({ mode, sha: gitBlobId(Buffer.from(text)) })
const tree: PublishBase['tree'] = new Map([
  ['a.py', entry('100644')],
  ['lib', { mode: '040000', sha: '0'.repeat(40) }],
  ['lib/b.py', entry('100755')],
  ['old.py', entry('100664')],
  ['latest', entry('120000')],
  ['links/to', entry('120000')],
  ['vendored/dep', { mode: '160000', sha: '1'.repeat(40) }],
])
const base: PublishBase = {
  tree,
  readBase: async ({ baseHash }) => Buffer.from(baseHash === 'other' ? 'another\n' : before),
  allowWorkflows: false,
  allowPaths: [],
}
const change = (path: string, others: Partial<PlannedFile> = {}): PlannedFile => {
  return { path, executable: false, content: Buffer.from('x\n'), baseHash: tree.has(path) ? 'own' : null, ...others }
}
const commitOf = (...files: PlannedFile[]): PlannedCommit => ({ agent: 'lint', changeSetIds: ['c1'], files })
const reasonFor = async (path: string) => (await findRefused([commitOf(change(path))], base)).at(0)?.reason
const text = (content: string) => ({ content: Buffer.from(content) })

describe('what may be published', () => {
  it('is a change, a deletion or a new file of the base, in one commit or several', async () => {
    const commits = [
      commitOf(change('a.py'), change('lib/b.py', { executable: true }), change('new/deep/é 🙂.py')),
      commitOf(change('lib/b.py', { changesMode: true }), change('new/run.sh', { executable: true })),
      commitOf(change('a.py', { content: null }), change('new/deep/er.py'), change('docs/owners.md')),
      commitOf(change('lib/b.py', { content: null }), change('new/deep/er.py', { content: null })),
      commitOf(change('lib', { baseHash: null })),
    ]
    await expect(checkPublishable(commits, base)).resolves.toBeUndefined()
  })

  const harms: [PublishRule, string, PlannedFile[], (readonly PublishRule[])?][] = [
    ['path', 'leads out', [change('../a.py')]],
    ['path', 'is absolute', [change('/etc/passwd')]],
    ['path', 'is not in normal form', [change('b//c.py')]],
    ['path', 'has a name that no file system takes', [change(`${'n'.repeat(256)}.py`)]],
    ['control', 'breaks a line', [change('a\nb.py')]],
    ['control', 'is written from right to left', [change('a\u202eyp.b')]],
    ['git_folder', 'is in the folder of git', [change('.git/config')]],
    ['git_folder', 'is so in capitals', [change('b/.GIT/hooks/pre-commit')]],
    ['git_folder', 'is so on Windows', [change('GIT~1/config')]],
    ['git_folder', 'is so on Windows with a tail', [change('.git. ./config')]],
    ['git_folder', 'is so on Windows as a stream', [change('.git::$INDEX_ALLOCATION/config')]],
    ['git_folder', 'is so on a Mac', [change('.g\u200cit/config')]],
    ['gitmodules', 'adds submodules', [change('.gitmodules')]],
    ['gitmodules', 'adds them in capitals', [change('.GitModules')]],
    ['gitmodules', 'adds them on Windows', [change('GITMOD~1')]],
    ['gitmodules', 'adds them on Windows with another short name', [change('GI7EBA~1')]],
    ['gitmodules', 'adds them on a Mac', [change('.gitm\u200dodules')]],
    ['workflows', 'is a workflow', [change('.github/workflows/ci.yml')], ['acting']],
    ['workflows', 'is an action', [change('.github/actions/own/action.yml')], ['acting']],
    ['workflows', 'is one of another host', [change('.forgejo/workflows/ci.yml')], ['acting']],
    ['workflows', 'is the pipeline of another host', [change('.gitlab-ci.yml')], ['acting']],
    ['workflows', 'is one in capitals', [change('.GitHub/Workflows/ci.yml')], ['acting']],
    ['link', 'is a link', [change('latest')]],
    ['link', 'leads through a link', [change('latest/a.py')]],
    ['link', 'leads through one where case does not count', [change('LINKS/To/a.py')]],
    ['submodule', 'is a submodule', [change('vendored/dep')], ['base']],
    ['submodule', 'is in a submodule', [change('vendored/dep/a.py')]],
    ['submodule', 'is in one where case does not count', [change('Vendored/Dep/a.py')]],
    ['file_and_folder', 'is below a file', [change('a.py/b.py')]],
    ['file_and_folder', 'is below one where case does not count', [change('A.py/b.py')]],
    ['file_and_folder', 'is a folder', [change('lib', { baseHash: null })]],
    ['file_and_folder', 'is a new folder', [change('n'), change('n/m')]],
    ['letter_case', 'is another file in capitals', [change('A.PY')]],
    ['letter_case', 'is a new file in capitals', [change('ß.py'), change('SS.py')]],
    ['letter_case', 'is one written with other code points', [change('é.py'), change('e\u0301.py')]],
    ['mode', 'has a mode of old', [change('old.py')]],
    ['mode', 'loses its bit without a word', [change('lib/b.py')]],
    ['base', 'was made from another version', [change('a.py', { baseHash: 'other' })]],
    ['base', 'is there already', [change('a.py', { baseHash: null })]],
    ['base', 'is not there', [change('gone.py', { baseHash: 'own' })]],
    ['size', 'is too large', [change('b.bin', text('x'.repeat(2_000)))]],
    ['size', 'is too large with others', Array.from({ length: 4 }, (_, at) => change(`b${at}`, text('x'.repeat(900))))],
    ['size', 'is one of too many', Array.from({ length: 30 }, (_, at) => change(`b${at}`))],
    ['secret', 'has a private key', [change('key.pem', text(`# k\n${privateKey.text}`))]],
  ]
  it.each(harms)('is not, by the rule %s, what %s', async (rule, _what, files, beside = []) => {
    const limits = { fileBytes: 1_000, totalBytes: 3_000, files: 20 }
    const small = { ...base, limits: rule === 'size' ? limits : { ...limits, fileBytes: 9_000, totalBytes: 9_000 } }
    const commits = [commitOf(...files)]
    await expect(checkPublishable(commits, small)).rejects.toMatchObject({ code: 'PUBLISH_001' })
    await checkPublishable(commits, { ...small, without: [rule, ...beside] })
    if (rule === 'workflows') await checkPublishable(commits, { ...small, allowWorkflows: true })
  })

  it.each([
    'action.yml tools/x/action.yaml CODEOWNERS .github/CODEOWNERS docs/codeowners .gitattributes src/.gitattributes .github/dependabot.yml',
    '.github/FUNDING.yml dependabot.yaml .circleci/config.yml Jenkinsfile azure-pipelines.yml .travis.yml .drone.yml .buildkite/x.sh .cirrus.yml',
    'bitbucket-pipelines.yml appveyor.yml renovate.json .renovaterc.json5 .pre-commit-config.yaml .husky/pre-commit .githooks/x lefthook.yml .npmrc',
    'remora.yaml sub/REMORA.YML AGENTS.md sub/Agents.md sub/agents.md docs/AGENTS.md docs/Claude.md CLAUDE.md GEMINI.md .cursorrules .cursor/rules/a.mdc .claude/settings.json .mcp.json',
    '.github/copilot-instructions.md .vscode/tasks.json .devcontainer/devcontainer.json .readthedocs.yaml codecov.yml .pnpmfile.cjs .envrc',
  ])('is not, without a yes of the operator or the default branch: %s', async (names) => {
    for (const path of names.split(' ')) {
      const commits = [commitOf(change(path))]
      expect(await reasonFor(path), path).toMatch('acts on its own')
      await expect(checkPublishable(commits, base)).rejects.toMatchObject({ code: 'PUBLISH_001' })
      await checkPublishable(commits, { ...base, allowPaths: ['other.md', path] })
    }
  })

  it.each([
    'action.ts src/action.py agents.py agents/a.md src/remora/main.py vercel.js claude.ts docs/actions.md git.yml pipelines/azure.py',
    'docs/agents.md website/en/claude.md Docs/gemini.md docs/renovate.md codeowners.md guides/netlify.md docs/remora.md agents.yml',
  ])('is code, or a page of a manual, that is only called like one of these: %s', async (names) => {
    for (const path of names.split(' ')) expect(await reasonFor(path), path).toBe(undefined)
  })

  it("is all that is beside what is refused, which is in nobody's way", async () => {
    const units = [
      commitOf(change('links/to/x.py'), change('new.py')),
      commitOf(change('NEW.py'), change('a.py', { content: null })),
      commitOf(change('new.PY'), change('A.py', { content: null })),
      commitOf(change('A.PY')),
    ]
    const refused = await findRefused(units, { ...base, without: ['base'] })
    expect(refused.map(({ file, reason }) => [file.path, reason])).toEqual([
      ['links/to/x.py', 'is, or leads through, the link "links/to"'],
      ['new.PY', 'is the same file as "NEW.py" where case does not count'],
    ])
    await expect(checkPublishable(units.toSpliced(2, 1).slice(1), base)).resolves.toBeUndefined()
  })

  it('is a change of what the base has, although its own files are the same where case does not count', async () => {
    const odd = new Map([...tree, ['LIB', entry('100644')] as const, ['A.py', entry('100644')] as const])
    const commits = [commitOf(change('lib/b.py', { executable: true }), change('a.py'))]
    await expect(checkPublishable(commits, { ...base, tree: odd })).resolves.toBeUndefined()
    const more = [commitOf(change('lib/c.py'))]
    await expect(checkPublishable(more, { ...base, tree: odd })).rejects.toMatchObject({ code: 'PUBLISH_001' })
  })

  it.each(plantedSecrets)('is no new $kind, which is not repeated', async ({ code, value }) => {
    const added = change('a.py', text(`${before}token = ${code}\n`))
    const error: unknown = await checkPublishable([commitOf(added)], base).catch((cause: unknown) => cause)
    expect(error).toMatchObject({ code: 'PUBLISH_001', message: expect.stringMatching(/"a\.py".*line \d+/) })
    expect(String(error)).not.toContain(value)
    await checkPublishable([commitOf(added)], { ...base, without: ['secret'] })
  })

  it.each(plantedSecrets)('can have a $kind that was there, also further down', async ({ code }) => {
    const had = `token = ${code}\n`
    const hadTree = new Map([...tree, ['a.py', entry('100644', had)] as const])
    const hadBase = { ...base, tree: hadTree, readBase: async () => Buffer.from(had) }
    const moved = [commitOf(change('a.py', text(`"""A."""\n${had}`)))]
    await expect(checkPublishable(moved, hadBase)).resolves.toBeUndefined()
  })

  it('has no secret that only an earlier commit has', async () => {
    const [secret] = plantedSecrets
    const commits = [commitOf(change('a.py', text(`k = ${secret?.code}\n`))), commitOf(change('a.py'))]
    await expect(checkPublishable(commits, base)).rejects.toMatchObject({ code: 'PUBLISH_001' })
  })
})

describe('the evidence of what is published', () => {
  const files = openBase({ 'a.py': before, 'b.py': before, 'c.py': before })
  const proved = (path: string, ok = true): Evidence => ({ check: 'parses', path, ok, tool: 't' })
  const set = (evidence: Evidence[]) => {
    const changes = ['a.py', 'b.py'].map((path) => files.editing(path, ['import os\n', '']))
    return { ...setOf('c1', 'lint', [...changes, files.deleting('c.py')]), evidence }
  }
  const check = async (evidence: Evidence[], ofFile: Evidence[] = []) => {
    const source = files.composed([set(evidence)])
    const composition = { files: source.composition.files.map((file) => ({ ...file, evidence: ofFile })) }
    checkEvidence(await planCommits(source), { ...source, composition })
  }

  it('is of every file that is left there, or of none', async () => {
    await check([proved('a.py'), proved('b.py')])
    await check([
      { check: 'tests_pass', path: 'a.py', ok: true, tool: 't' },
      { ...proved('c.py'), check: 'names_kept' },
    ])
    await check([])
    await expect(check([proved('a.py')])).rejects.toMatchObject({
      code: 'PUBLISH_001',
      message: expect.stringMatching(/"b\.py".*c1/),
    })
  })

  it('never speaks against a file', async () => {
    await check([], [{ ...proved('a.py'), check: 'not_checked', of: 'parses' }])
    await expect(check([], [proved('a.py', false)])).rejects.toMatchObject({ code: 'PUBLISH_001' })
  })

  it('is that of a change set which changes the file', async () => {
    const source = files.composed([set([])])
    const commits = await planCommits(source)
    const more = [...commits, { agent: 'lint', changeSetIds: [], files: [change('z.py')] }]
    expect(() => checkEvidence(more, source)).toThrow(/"z\.py" is in no change set/)
    expect(() => checkEvidence(commits, { ...source, sets: new Map() })).toThrow(/is in no change set/)
  })
})
