import { describe, expect, it } from 'vitest'
import { Publication } from '#domain/publication.ts'
import type { Decision, Verdict } from '#domain/decision.ts'
import type { ComposedEvidence, MadeSets } from '#store/objects/composition.ts'
import { nothingMoves } from './live-view.ts'
import { endedRun as run } from './ended-run.fixture.ts'
import { runView } from './run-view.ts'

const evidence = (check: ComposedEvidence['check'], ok: boolean): ComposedEvidence => ({
  check,
  ok,
  path: 'a.py',
  tool: 'ruff',
})
const file = (path: string, found: ComposedEvidence[]) => ({
  path,
  baseHash: 'b',
  resultHash: 'c',
  changeSetIds: ['c1'],
  evidence: found,
})

const decisions = { byChangeSet: new Map<string, Decision>() }
/** What is known of a run of which nothing is composed, and on which nobody has decided. */
const bare = {
  live: nothingMoves,
  composition: null,
  skipped: [],
  failures: [],
  away: [],
  verdicts: new Map(),
  decisions,
  retryWanted: 0,
}

describe('runView', () => {
  it('counts what was passed over of the archive, and lists the first hundred', () => {
    const skipped = Array.from({ length: 120 }, (_value, at) => ({ path: `${at}`, reason: 'the name is not UTF-8' }))
    const view = runView(run, { ...bare, skipped })
    expect(view.skipped).toBe(120)
    expect(view.skipped_files).toEqual(skipped.slice(0, 100))
  })

  it('sums up what was proved about the composed files, and only that', () => {
    const files = [
      file('a.py', [evidence('parses', true), evidence('lint_before_after', true)]),
      file('c.ts', [evidence('parses', true), { ...evidence('not_checked', true), of: 'lint_before_after' }]),
      file('test_a.py', [{ ...evidence('tests_kill_mutants', true), before: 8, after: 1 }]),
      file('test_b.py', [{ ...evidence('tests_kill_mutants', true), before: 6, after: 6 }]),
      file('d.txt', [{ ...evidence('not_applicable', true), of: 'docstring_only' }]),
      file('b.py', [{ ...evidence('parses', true), before: 2, after: 1 }, evidence('lint_before_after', false)]),
      file('e.py', [{ ...evidence('comments_kept', true), inPart: true }]),
    ]
    const composition = { v: 1 as const, runId: run.runId, of: 'proposed' as const, files, conflicts: [] }
    expect(runView(run, { ...bare, composition }).checks).toEqual({
      parses: { ok: 3, total: 3, with_errors: 1 },
      lint_before_after: { ok: 1, total: 2, not_checked: 1 },
      docstring_only: { ok: 0, total: 0, not_applicable: 1 },
      comments_kept: { ok: 1, total: 1, in_part: 1 },
      tests_kill_mutants: { ok: 2, total: 2, planted: 14, noticed: 7 },
    })
  })

  it('says what became of the change sets of each agent', () => {
    const set = (id: string, place: MadeSets['sets'][number]['place'] = 'sound') => ({ id, place, proved: true })
    const sets = [set('c1'), set('c2'), set('c3', 'broken'), set('c4', 'made again')]
    const made = [{ agent: 'lint', failed: 1, sets }]
    const composition = { v: 1 as const, runId: run.runId, of: 'proposed' as const, files: [], conflicts: [], made }
    const decided = (verdict: Verdict, ...ids: string[]) => ids.map((id) => [id, decision(id, verdict)] as const)
    const all = new Map([...decided('accepted', 'c1', 'c3', 'of another retry'), ...decided('rejected', 'c2', 'c4')])
    const verdicts = new Map([
      ['lint', { accepted: 3, rejected: 2 }],
      ['docstring', { accepted: 0, rejected: 0 }],
    ])
    const counts = { generated: 4, valid: 2, verified: 2, accepted: 1, accepted_unverified: 1, rejected: 1 }
    const composed = { ...bare, composition, verdicts, decisions: { byChangeSet: all } }
    expect(runView(run, composed).funnel).toEqual([{ agent: 'lint', ...counts, merged: 0 }])
    const pull = { agent: null, branch: 'b', url: 'u', head: 'a'.repeat(40), base: 'b'.repeat(40), isDraft: false }
    const pulls = [
      { ...pull, number: 1, state: 'merged', changeSetIds: ['c1', 'of an earlier run'] },
      { ...pull, number: 2, state: 'open', changeSetIds: ['c3'] },
    ]
    const publication = Publication.parse({ pulls })
    expect(runView({ ...run, publication }, composed).funnel).toEqual([{ agent: 'lint', ...counts, merged: 1 }])
    const unknown = { generated: null, valid: null, verified: null, accepted_unverified: 0, merged: 0 }
    expect(runView(run, { ...bare, verdicts }).funnel).toEqual([
      { agent: 'lint', ...unknown, accepted: 3, rejected: 2 },
    ])
  })
})

function decision(changeSetId: string, verdict: Verdict): Decision {
  const made = { agent: 'lint', runId: run.runId, operationId: 'o1', recordHash: 'h' }
  return { changeSetId, verdict, reason: null, version: 1, at: 0, by: 'human/t1', ...made }
}
