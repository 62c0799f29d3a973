import { expect, it } from 'vitest'
import type { EdgeShape } from '#schemas/node-schema.ts'
import { aNode, aRun } from '../answers.fixture.ts'
import { describeNode, describeRun } from './describe-run.ts'

const running = { counts: { ready: 2 } }

const manner = { isWaiting: false, width: Infinity }

it('shows of a usual run that goes on only what there is to say', () => {
  expect(describeRun(aRun({ ...running }), [], manner)).toBe(`run         r1
status      running (works on operations)
agents      lint
accepted    2026-05-01T12:00:00.000Z
took        not ended
operations  2 ready
conflicts   0
`)
})

it('tells what planner, watcher and asks have used from what agents have, for each change', () => {
  const counts = { generated: 4, valid: 4, verified: 4, accepted: 0, accepted_unverified: 0, rejected: 0, merged: 0 }
  const funnel = [{ agent: 'lint', ...counts }]
  const used = (byAgents: number) =>
    describeRun(aRun({ funnel, budget: { tokens: null, used: 7_524, used_by_agents: byAgents } }), [], manner)
  expect(used(7_524)).toContain('\ntokens      7,524, 1,881 for each proposed change\n')
  expect(used(400)).toContain(
    '\ntokens      7,524, of them 7,124 by planner, watcher and asks, 100 for each proposed change\n',
  )
  expect(used(0)).toContain('\ntokens      7,524, of them 7,524 by planner, watcher and asks\n')
})

it('names its generation after a retry, an unusual priority and policy, and why it was cancelled', () => {
  const request = { error_policy: 'stop_run', priority: 0 }
  const ended = { status: 'cancelled', duration_ms: 1200, reason: 'wrong branch', checks: {}, generation: 2 }
  expect(describeRun(aRun({ ...running, ...ended, request }), [], manner)).toBe(`run         r1
status      cancelled
reason      wrong branch
generation  2
agents      lint
priority    0
policy      stop_run
accepted    2026-05-01T12:00:00.000Z
took        1.2 s
operations  2 ready
conflicts   0
`)
})

it('counts what became of the changes of each agent, of a run that is not composed only what was decided', () => {
  const counts = { generated: 4, valid: 3, verified: 2, accepted: 1, accepted_unverified: 1, rejected: 1, merged: 0 }
  const unknown = {
    ...counts,
    generated: null,
    valid: null,
    verified: null,
    accepted: 0,
    accepted_unverified: 0,
    rejected: 2,
  }
  const funnel = [
    { agent: 'docstring', ...counts },
    { agent: 'lint', ...unknown },
  ]
  expect(describeRun(aRun({ ...running, funnel }), [], manner)).toContain(
    `changes     docstring: 4 generated, 3 valid, 2 verified, 1 accepted, 1 accepted unverified, 1 rejected
            lint: 0 accepted, 2 rejected (the rest is counted when the run is composed)
`,
  )
})

it('lists what is left out of the patch, with lines, names and reasons, and what can be had of it', () => {
  const set = (id: string, line: number) => ({
    change_set_id: `c${id}`,
    operation_id: `o${id}`,
    agent: 'lint',
    lines: { first: line, last: line },
    node: { path: 'a.py', qualified_name: 'f' },
    path: 'a.py',
  })
  const collides = {
    ...set('1', 3),
    error_code: 'WORK_001',
    reason: 'same place',
    with: { ...set('2', 4), text: 'x\n' },
  }
  const broken = { ...set('3', 9), error_code: 'WORK_004', reason: 'parses fails', by_itself: true }
  const textOf = (leftOut: object[], conflicts = leftOut.length) => {
    const text = describeRun(aRun({ ...running, conflicts, left_out: leftOut }), [], manner)
    return text.slice(text.indexOf('conflicts'))
  }
  const both = textOf([collides, broken])
  expect(both).toBe(`conflicts   2

2 change sets left out of the patch:
  WORK_001  lint o1 a.py f (line 3) collides with lint o2 a.py f (line 4)
  WORK_004  lint o3 a.py f (line 9) breaks a.py by itself: parses fails
  See one with its evidence, and what the two make of the place: remora diff r1 o1
  To have what breaks nothing by itself as well, apply the patch and run again: then it is made on top of it.
  What breaks something by itself must be made in another way: reject it with a word, and retry.
`)
  expect(textOf([broken])).not.toContain('run again')
  expect(textOf([collides])).toContain('  To have it as well, apply the patch and run again')
  const many = textOf(
    Array.from({ length: 30 }, () => collides),
    120,
  )
  expect(many.split('WORK_001')).toHaveLength(21)
  expect(many).toContain('  … and 100 more: remora show r1 --json')
})

it('says what it waits for, and what the servers of a model said', () => {
  const server = { url: 'http://gpu/v1', has_answered: false, last_error: 'no answer: ECONNREFUSED', next_probe: null }
  const since = '2026-11-01T00:00:00.000Z'
  const waiting = [
    { kind: 'models', model: 'docs', since, servers: [server] },
    { kind: 'answer', questions: 2 },
  ]
  const step = 'waits for the model "docs" and 2 answers'
  const run = aRun({ ...running, waiting_for: waiting, current_step: step })
  const text = describeRun(run, [], manner)
  expect(text).toContain(`status      running (${step})\n`)
  expect(text.slice(text.indexOf('conflicts'))).toBe(`conflicts   0

waits for the model "docs": no server of it works since 2026-11-01 00:00:00Z; it goes on by itself when one does
  http://gpu/v1: no answer: ECONNREFUSED, and has never answered
`)
  expect(describeRun(run, [], { ...manner, isWaiting: true })).not.toContain('goes on by itself')
})

const node = aNode({
  node_id: 'n0123456789abcdef',
  kind: 'function',
  name: 'rounded',
  qualified_name: 'rounded',
  path: 'shop/money.py',
  language: 'python',
  start_line: 6,
  end_line: 7,
  start_byte: 60,
  end_byte: 90,
  parent_id: null,
  hash: 'h',
  edges: { out: 0, in: 2 },
  operations: [{ operation_id: 'o1', agent: 'lint', status: 'unchanged', repeats: null, superseded_by: null }],
})

function caller(name: string, over: Partial<EdgeShape> = {}): EdgeShape {
  const other = { node_id: 'nfedcba9876543210', kind: 'function', qualified_name: name, path: 'a.py' }
  return {
    direction: 'in',
    kind: 'calls',
    certainty: 'exact',
    node: { ...other, start_line: 3, end_line: 4 },
    ...over,
  }
}

it('describes a node, and lists the other ends of its edges by kind', () => {
  const edges = [caller('one'), caller('two', { certainty: 'by_name' }), caller('test_it', { kind: 'tests' })]
  expect(describeNode({ node, edges })).toBe(`node        shop/money.py rounded
id          n0123456789abcdef
kind        function, python, lines 6-7
operations  lint unchanged
edges       0 out, 3 in

called by
  3-4         a.py one
  3-4         a.py two  (by name)

tested by
  3-4         a.py test_it`)
})
