import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AgendaItemView, RunAgenda } from '#schemas/agenda-schema.ts'
import { anAgendaItem, aRun } from '../answers.fixture.ts'
import { resultView } from '../run/report-run.ts'
import { eventsOf, workedRun } from './events.fixture.ts'
import { foldProgress } from './fold-progress.ts'
import { openPaint } from '../terminal-text.ts'
import { emptyProgress } from './progress-state.ts'
import { renderReport } from './result-report.ts'

const state = eventsOf(workedRun).reduce(foldProgress, emptyProgress('r1'))
const place = { agent: 'docstring', path: 'src/shop.py', qualified_name: 'shop.py' }
const unreachable = { error_code: 'AGENT_002', count: 1, operation_id: 'o2', ...place, reason: 'model server down' }
const counted = { valid: 4, verified: 4, accepted_unverified: 1, rejected: 0, merged: 0 }
const run = aRun({
  status: 'completed',
  phase: 'review',
  duration_ms: 3210,
  checks: {
    parses: { ok: 2, total: 2, with_errors: 1, not_checked: 1 },
    lint_before_after: { ok: 0, total: 0, not_checked: 2, not_applicable: 1 },
    docstring_only: { ok: 3, total: 3, in_part: 1 },
    tests_kill_mutants: { ok: 2, total: 2, planted: 14, noticed: 7 },
  },
  failures: [unreachable],
  funnel: [
    { agent: 'lint', ...counted, generated: 4, accepted: 2 },
    { agent: 'docstring', ...counted, generated: 0, accepted: 0 },
  ],
  conflicts: 1,
  left_out: [
    {
      change_set_id: 'c1',
      operation_id: 'o1',
      agent: 'lint',
      node: { path: 'src/a.py', qualified_name: 'Shelf.count' },
      lines: { first: 3, last: 4 },
      path: 'src/a.py',
      error_code: 'WORK_001',
      reason: 'another change set changes the same place',
      with: { change_set_id: 'c0', operation_id: 'o0', agent: 'docstring' },
    },
  ],
})
const bare = { ...run, checks: {}, conflicts: 0, left_out: [] }
const patch = { path: 'out.patch', applied: false, hint: 'remora apply r1 --of proposed' }
const plain = { paint: openPaint(false), width: Infinity }

describe('the report of a run', () => {
  it('names each item of the plan that was blocked, and what its planner has used', () => {
    const fault = { error_code: 'TOOL_004', reason: 'Ruff does not\ntell its settings' }
    const counts = z.custom<AgendaItemView['counts']>().parse({ fault })
    const blocked = anAgendaItem({ item_id: 'lint', status: 'blocked', counts })
    const items = [blocked, { ...blocked, item_id: 'docs', capability: 'docstring' }]
    const later = anAgendaItem({ item_id: 'again', status: 'ended', decided_in: 9 })
    const agenda = z.custom<RunAgenda>().parse({ run_id: 'r1', items: [...items, later] })
    const budget = { tokens: null, used: 7_524, used_by_agents: 1_200 }
    const parts = { state, run: { ...run, budget }, agenda, patch }
    const report = renderReport(parts, plain)
    expect(report).toContain(`
2 items of the plan blocked:
  lint: TOOL_004 Ruff does not tell its settings; again took its place
  docs: TOOL_004 Ruff does not tell its settings
  All of it: remora show r1 --plan
`)
    expect(report).toContain('\nTokens of the run: 7,524, of them 6,324 by planner, watcher and asks\n')
    const { blocked_items: listed, tokens } = resultView(parts).result
    expect([listed.map(({ item_id: id, replaced_by: other }) => [id, other]), tokens]).toEqual([
      [
        ['lint', 'again'],
        ['docs', null],
      ],
      7_524,
    ])
  })

  it('has a row per agent, the evidence, failures, conflicts and the way to apply the patch', () => {
    expect(`\n${renderReport({ state, run, patch }, plain)}`).toBe(`
run r1 completed in 3.2 s  ·  rehearsal model (no LLM)

agent      operations  succeeded  unchanged  skipped  failed  left out  requests  tokens  each proposed  each accepted
docstring           2          0          0        1       1         0         0       0
lint                1          1          0        0       0         0         1   1,200     0.25 / 300     0.33 / 400

Checked on the changed files:
  parses             2 of 2 files, 1 with syntax errors it had before, 1 not checked
  lint_before_after  no file, 2 not checked, not applicable to 1
  docstring_only     3 of 3 files, 1 of them for some of the changes
  tests_kill_mutants 2 of 2 files, 7 of 14 planted faults noticed

1 operation failed:
  AGENT_002  docstring o2  src/shop.py: model server down
  What to do about AGENT_002: a retry repeats it, once the model servers answer: "remora doctor" asks those of the settings, --model names others, and 401 or 403 wants REMORA_MODEL_API_KEY

1 change set left out of the patch:
  WORK_001  lint o1 src/a.py Shelf.count (lines 3-4) collides with docstring o0 src/a.py
  See one with its evidence: remora diff r1 o1
  To have it as well, apply the patch and run again: then it is made on top of it.

Proposed patch: out.patch
Apply it:       remora apply r1 --of proposed
Look at each change, take some and reject others: remora review r1

Then try what failed again: remora retry r1

rehearsal model (no LLM): its texts are made by rules, for show.
`)
  })

  it('has a line for each error code, with how many have it and the first, and the way to try those again', () => {
    const failed = { event: 'operation.ended', agent: 'lint', data: { status: 'failed' } }
    const failures = [
      { ...unreachable, count: 1638 },
      { ...unreachable, error_code: 'AGENT_004', operation_id: 'o7', count: 1, reason: 'turn limit of 12' },
    ]
    const many = Array.from({ length: 1638 }, (_, at) => ({ ...failed, operation_id: `f${at}` }))
    const lost = eventsOf([...workedRun, ...many]).reduce(foldProgress, emptyProgress('r1'))
    const report = renderReport({ state: lost, run: aRun({ ...run, failures }), patch }, plain)
    expect(report).toContain(`
1,639 operations failed:
  AGENT_002 (1,638 operations)  docstring o2  src/shop.py: model server down
  AGENT_004  docstring o7  src/shop.py: turn limit of 12
  What to do about AGENT_002: `)
    expect(report).toContain(`
Then try what failed again: remora retry r1
  only with one code: remora retry r1 --code AGENT_002
`)
  })

  it('says that nothing is to be changed when there is no patch', () => {
    const quiet = { state: emptyProgress('r1'), run: bare, patch: undefined }
    expect(renderReport(quiet, plain)).toBe('run r1 completed in 3.2 s\n\nNothing to change: no patch was written.\n')
  })

  it('says that there are changes when none of them was accepted by itself', () => {
    const made = { agent: 'lint', generated: 2, valid: 2, verified: 2, accepted: 0, rejected: 0 }
    const waiting = aRun({ ...bare, request: { ...bare.request, accept: 'auto' }, funnel: [made] })
    const report = renderReport({ state: emptyProgress('r1'), run: waiting, patch: undefined }, plain)
    expect(report).toMatch(/None of 2 change sets was accepted(?!.*Nothing to change).*remora review r1/s)
  })

  it('says how many nodes were looked at, or have not changed, why some got no operation, and how many change sets were left out', () => {
    const empty = { estimated_tokens: 0, folders: [] }
    const skippedFor = (reason: string, count: number) => [{ reason, count, examples: ['a.py'] }]
    const ofLint = { looked_at: 1994, planned: 3, mechanical: 2, skipped: skippedFor('no lint fault', 1991) }
    const ofLintView = { ...ofLint, skipped: [{ reason: 'no lint fault', count: 1991 }] }
    const beyond = skippedFor('beyond the limit of 8 operations', 7)
    const ofDocstring = { looked_at: 10, planned: 3, mechanical: 0, skipped: beyond }
    const plan = {
      nodes_looked_at: 1994,
      beyond_limit: 7,
      unchanged: 16,
      notices: ['tox.ini [flake8]: not checked: E121'],
      agents: { lint: { ...ofLint, ...empty }, docstring: { ...ofDocstring, ...empty } },
      skipped_files: [],
    }
    const composed = { event: 'run.composed', data: { files: 1, conflicts_by_agent: { lint: 1 } } }
    const looked = eventsOf([...workedRun, composed]).reduce(foldProgress, emptyProgress('r1'))
    const parts = { state: looked, run: aRun({ ...run, nodes: 2010 }), plan, patch }
    const report = renderReport(parts, plain)
    expect(report).toContain(`
Looked at 1,994 of 2,010 nodes, since 16 have not changed: 8 operations, 2 of them without a model; the limit leaves out 7 more
  docstring looked at 10 nodes: 3 operations; none on 7 (beyond the limit of 8 operations)
  lint looked at 1,994 nodes: 5 operations on 3 nodes; none on 1,991 (no lint fault)
  tox.ini [flake8]: not checked: E121
`)
    expect(report).toMatch(/^lint .* 1 +1 +1,200 +0\.25 \/ 300 +0\.33 \/ 400$/m)
    expect(resultView(parts).result).toMatchObject({
      looked_at: 2004,
      nodes_looked_at: 1994,
      beyond_limit: 7,
      agents: { lint: { left_out: 1 } },
      planned: { lint: ofLintView },
    })
  })

  it('breaks the lines that are wider than the terminal, and cuts nothing', () => {
    const reason = `the tests ${'and what they use '.repeat(10)}are gone`
    const plan = { nodes_looked_at: 0, beyond_limit: 0, agents: {}, skipped_files: [], notices: [reason] }
    const failed = { event: 'operation.ended', operation_id: 'o9', agent: 'lint', data: { status: 'failed', reason } }
    const long = eventsOf([...workedRun, failed]).reduce(foldProgress, emptyProgress('r1'))
    const why = aRun({ ...run, failures: [{ ...unreachable, count: 2, reason }], error_code: 'AGENT_002', reason })
    const parts = {
      state: long,
      plan,
      run: aRun({ ...why, left_out: run.left_out.map((one) => ({ ...one, with: undefined, reason })) }),
      patch,
    }
    const narrow = renderReport(parts, { ...plain, width: 60 })
    expect(narrow).not.toContain('…')
    expect(narrow).toContain('\n  the tests and what they use and what they use and what\n    they use and')
    const words = (of: string) => of.split(/\s+/).join(' ')
    expect(words(narrow)).toBe(words(renderReport(parts, plain)))
  })

  it('does not let a run in which nothing went well pass for one with nothing to change', () => {
    const failed = { event: 'operation.ended', operation_id: 'o1', agent: 'lint', data: { status: 'failed' } }
    const fruitless = eventsOf([failed]).reduce(foldProgress, emptyProgress('r1'))
    const failures = [{ ...unreachable, error_code: 'AGENT_008', count: 1 }]
    const parts = { state: fruitless, run: aRun({ ...bare, failures }), patch: undefined }
    const report = renderReport({ ...parts, model: 'http://127.0.0.1:8000/v1' }, plain)
    expect(report).toContain('No patch was written: every operation failed.')
    expect(report).toContain('Try what failed again: remora retry r1 --model http://127.0.0.1:8000/v1')
    expect(report).not.toContain('Nothing to change')
  })

  it('says how much of it is accepted where the run accepts by itself', () => {
    const decided = { accepted: 2, accepted_unverified: 0, rejected: 0, merged: 0 }
    const counts = { agent: 'lint', generated: 3, valid: 3, verified: 3, ...decided }
    const words = { ...counts, agent: 'docstring', generated: 2, valid: 2, verified: 0, accepted: 0 }
    const accepting = aRun({ ...bare, request: { agents: ['lint'], accept: 'auto' }, funnel: [words, counts] })
    const report = renderReport({ state, run: accepting, patch }, plain)
    expect(report).toContain('Accepted patch: out.patch\n  2 of 5 change sets accepted')
    expect(report).toContain('2 of docstring did not pass a check: remora diff r1 OPERATION names it')
    expect(report).not.toContain('Proposed patch')
    expect(report).toContain('remora review r1')
  })

  it('names the way on from a run that stopped at its first failure', () => {
    const stopped = aRun({ ...run, status: 'failed', request: { error_policy: 'stop_run' } })
    const wayOn = 'remora retry r1 --error-policy skip_downstream'
    const reportOf = (of: typeof state) => renderReport({ state: of, run: stopped, patch: undefined }, plain)
    expect(reportOf(state)).toContain(wayOn)
    expect(reportOf(emptyProgress('r1'))).not.toContain(wayOn)
  })
})
