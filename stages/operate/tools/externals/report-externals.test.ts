import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '#domain/external-journal.ts'
import { sha256 } from '#domain/ids.ts'
import { type Report, reportsIn } from '#domain/reports.ts'
import { openWorkspace } from '../../workspace/open-workspace.ts'
import { type ReportDeps, reportExternals } from './report-externals.ts'

const short = 'def f(x):\n    return 1 / x\n'
const path = 'src/app.py'

type Reporter = keyof ReturnType<typeof reportExternals>

type Opened = { journal?: JournalEntry[]; source?: string; before?: Report[]; turn?: number }

/** Opens the externals over one file. Each call is of a turn of its own unless `turn` says otherwise. */
function opened({ journal = [], source = short, before = [], turn = 0 }: Opened = {}) {
  const workspace = openWorkspace({
    find: (asked) => (asked === path ? { hash: sha256(source) } : undefined),
    kindAt: (asked) => (asked === path ? 'file' : undefined),
    list: () => [],
    read: async () => Buffer.from(source),
  })
  const [told, stored]: [Parameters<ReportDeps['emit']>[0][], string[]] = [[], []]
  let turns = 0
  const deps: ReportDeps = {
    operationId: 'o1',
    turn: () => (turn === 0 ? (turns += 1) : turn),
    exists: (reference) => ('call' in reference ? reference.call === 'c1' : reference.event === 7),
    reportedBefore: async () => before,
    storeArtifact: async (content) => void stored.push(content),
    emit: (event) => void told.push(event),
  }
  const externals = reportExternals(workspace, deps, journal)
  const heard: JournalEntry[] = [...journal]
  return {
    told,
    stored,
    heard,
    async report(name: Reporter, ...args: unknown[]) {
      const answer: unknown = await externals[name](args)
      heard.push({ name, args, answer })
      return answer
    },
  }
}

describe('report_finding', () => {
  it('takes a claim about lines that exist, and shows the first of them', async () => {
    const { report, heard } = opened()
    const answer = await report('report_finding', ' It divides by zero. ', `./${path}`, 2, 0.9, null, 'error', 'zero')
    expect(answer).toMatchObject({ reported: true, left: 19, finding: { line_text: 'return 1 / x' } })
    const found = { claim: 'It divides by zero.', path, line: 2, endLine: 2, lineText: 'return 1 / x' }
    const finding = { ...found, severity: 'error', confidence: 0.9, rule: 'zero' }
    expect(reportsIn(heard)).toEqual([{ kind: 'finding', finding, evidence_refs: [] }])
    const usual = { severity: 'warning', rule: null }
    expect(await report('report_finding', 'All of it.', path, 1, 1, 2)).toMatchObject({ finding: usual })
  })

  it.each([
    ['a line that is not there', ['c', path, 3, 0.5], 'src/app.py has lines 1 to 2, got 3 to 3'],
    ['a last line that is not there', ['c', path, 2, 0.5, 9], 'src/app.py has lines 1 to 2, got 2 to 9'],
    ['lines the wrong way round', ['c', path, 2, 0.5, 1], 'line (2) must be <= end_line (1)'],
    ['line 0', ['c', path, 0, 0.5], 'src/app.py has lines 1 to 2, got 0 to 0'],
    ['a file that is not there', ['c', 'src/none.py', 1, 0.5], 'no such file: src/none.py'],
    ['a place outside', ['c', '../app.py', 1, 0.5], 'path "../app.py" leads out of the repository'],
    ['an empty claim', [' ', path, 1, 0.5], 'claim must have 1 to 1000 characters'],
    ['a long claim', ['c'.repeat(1001), path, 1, 0.5], 'claim must have 1 to 1000 characters'],
    ['more than sure', ['c', path, 1, 90], 'confidence must be a number from 0 to 1'],
    ['an unknown severity', ['c', path, 1, 1, null, 'bad'], 'severity must be error, warning, note'],
    ['a rule of many words', ['c', path, 1, 1, null, 'note', 'a b'], 'rule must be a name'],
    ['a line that is no number', ['c', path, '1', 1], 'line must be an integer'],
    ['evidence of a line that is not there', ['c', path, 1, 1, null, 'note', null, [`${path}:9`]], 'got 9 to 9'],
    ['an event that has not been', ['c', path, 1, 1, null, 'note', null, ['event:8']], 'evidence "event:8" is not'],
    ['a call that was not made', ['c', path, 1, 1, null, 'note', null, ['call:c2']], 'evidence "call:c2" is not'],
    ['evidence that is words', ['c', path, 1, 1, null, 'note', null, ['trust me']], 'name PATH:LINE, event:NUMBER'],
  ])('refuses %s, with the reason', async (_what, args, reason) => {
    await expect(opened().report('report_finding', ...args)).rejects.toThrow(reason)
  })

  it('shows nothing of a line that is too long to be shown whole', async () => {
    const { report } = opened({ source: `x = "${'s'.repeat(200)}"\n` })
    expect(await report('report_finding', 'Long.', path, 1, 1)).toMatchObject({ finding: { line_text: '' } })
  })
})

it('takes what rests on lines, events and calls that exist', async () => {
  const { report, heard } = opened()
  const evidence = [`${path}:1-2`, 'event:7', 'call:c1']
  expect(await report('report_learning', 'Both parsers differ.', 0.5, evidence)).toMatchObject({ reported: true })
  await report('report_escalation', 'security_concern', 'high', 'A key is in the code.', null, evidence)
  const escalation = { affected: ['o1'], mitigation: 'notify', urgency: 'high' }
  expect(reportsIn(heard)).toMatchObject([
    { kind: 'learning', evidence_refs: evidence },
    { kind: 'escalation', escalation, evidence_refs: evidence },
  ])
  await expect(report('report_escalation', 'bad_mood', 'high', 'x')).rejects.toThrow('kind must be failure_spike')
  await expect(report('report_learning', ' ', 90)).rejects.toThrow('insight must have 1 to 1000 characters; confidence')
})

describe('a report', () => {
  it('counts once, however it is written, also after an earlier attempt and after another question', async () => {
    const { report, heard, told } = opened()
    await report('report_finding', 'Divides  by zero', path, 2, 0.9)
    const again = await report('report_finding', 'divides by ZERO', path, 2, 0.4, 2, 'error')
    expect(again).toEqual({ reported: false, reason: 'it was reported before' })
    expect(await report('report_finding', 'divides by zero', path, 1, 0.9)).toMatchObject({ reported: true })
    const key = `finding ${path}:2 divides by zero`
    expect(told).toEqual([
      { event: 'report.dropped', phase: 'tools', data: { kind: 'finding', reason: 'duplicate', key } },
    ])
    for (const later of [opened({ journal: heard }), opened({ before: reportsIn(heard) })]) {
      expect(await later.report('report_finding', 'divides by zero', path, 2, 1)).toMatchObject({ reported: false })
      expect(later.told).toMatchObject([{ data: { reason: 'duplicate' } }])
    }
  })

  it('counts twice at most of the findings in a turn, and once of the learnings', async () => {
    const { report, heard, told } = opened({ turn: 3 })
    for (const line of [1, 2, 1]) await report('report_finding', `fault ${heard.length}`, path, line, 0.5)
    for (const insight of ['one', 'two']) await report('report_learning', insight, 0.5)
    expect(reportsIn(heard).map(({ kind }) => kind)).toEqual(['finding', 'finding', 'learning'])
    expect(told.map(({ data }) => data)).toMatchObject([
      { kind: 'finding', reason: 'limit' },
      { kind: 'learning', reason: 'limit' },
    ])
  })

  it('is one of 20 findings of an operation at most', async () => {
    const { report, heard } = opened()
    for (let count = 1; count <= 21; count++) await report('report_finding', `fault ${count}`, path, 1, 0.5)
    expect(reportsIn(heard)).toHaveLength(20)
    expect(heard.at(-1)).toMatchObject({ answer: { reported: false } })
  })
})

it('stores an artifact that is a text or a file, once, and none that is too large', async () => {
  const { report, heard, stored } = opened()
  await report('report_artifact', 'notes.md', '# é', null, 'text/markdown')
  await report('report_artifact', 'app.py', null, path)
  expect(await report('report_artifact', 'app.py', short)).toMatchObject({ reported: false })
  expect(stored).toEqual(['# é', short])
  const [notes] = reportsIn(heard)
  const artifact = { name: 'notes.md', media_type: 'text/markdown', bytes: 4, sha256: sha256('# é') }
  expect(notes).toEqual({ kind: 'artifact', artifact })
  await expect(report('report_artifact', 'a', 'x'.repeat(256 * 1024 + 1))).rejects.toThrow('at most 262144 bytes')
  await expect(report('report_artifact', '../a', 'x')).rejects.toThrow('name must be one of a file')
  await expect(report('report_artifact', 'a', 'x', path)).rejects.toThrow('a text or a path')
})
