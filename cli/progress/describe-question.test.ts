import { describe, expect, it } from 'vitest'
import { eventsOf, plannedRun } from './events.fixture.ts'
import { foldProgress } from './fold-progress.ts'
import { openPaint } from '../terminal-text.ts'
import { emptyProgress } from './progress-state.ts'
import type { QuestionView } from '#schemas/question-schema.ts'
import { describeQuestion, openNewQuestions } from './describe-question.ts'
import { renderScreen } from './render-progress.ts'

type ApprovalView = Extract<QuestionView, { kind: 'approval' }>

const fold = (drafts: Parameters<typeof eventsOf>[0]) => eventsOf(drafts).reduce(foldProgress, emptyProgress('r1'))
const node = { path: 'src/a.py', qualified_name: 'Shelf.count' }
const asks = (id: string, data: object = {}) => [
  { event: 'operation.started', operation_id: `o${id}`, agent: 'lint' },
  {
    event: 'human_input.requested',
    operation_id: `o${id}`,
    agent: 'lint',
    data: { request_id: id, question: 'Which\none?', choices: ['a', 'b'], ...node, ...data },
  },
  { event: 'operation.suspended', operation_id: `o${id}`, agent: 'lint', data: { request_id: id, ...node } },
]
const waiting = [...plannedRun, ...asks('q1'), { event: 'run.waiting', data: { questions: 1 } }]
const resumed = { event: 'operation.resumed', operation_id: 'oq1', agent: 'lint', data: { request_id: 'q1', ...node } }

describe('a run that asks', () => {
  it('waits, with nothing running, until it is answered', () => {
    const state = fold(waiting)
    expect(state).toMatchObject({ agents: { lint: { running: 0 } } })
    const again = fold([...waiting, resumed, { event: 'operation.started', operation_id: 'oq1', agent: 'lint' }])
    expect(again).toMatchObject({ questions: [], agents: { lint: { running: 1 } } })
    expect(fold([...waiting, resumed]).questions).toEqual([])
  })

  it('shows what is asked and how to answer it', () => {
    const lines = renderScreen(fold(waiting), { width: 80, elapsedMs: 0, paint: openPaint(false) })
    expect(lines).toContain('operations  0 done · 0 running · 0 failed · 1 question open')
    expect(lines).toContain('q1  lint src/a.py Shelf.count asks: Which one? (a | b)')
    expect(lines).toContain('  answer with: remora answer r1 q1 TEXT')
  })

  it('shows a call that waits for approval, whole, and how to answer it', () => {
    const call = {
      tool: 'write_file',
      arguments: JSON.stringify({ path: 'a.py', content: 'x\npath: "b.py"', flags: [] }),
    }
    const state = fold([...plannedRun, ...asks('q1', { question: 'May it?', choices: null, call })])
    expect(openNewQuestions()(state)).toEqual([
      `q1  lint src/a.py Shelf.count asks to call write_file with ${call.arguments}\n  remora answer r1 q1 --allow | --allow-for-run | --deny [TEXT]`,
    ])
    const at = '2126-01-01T00:00:00.000Z'
    const asked = {
      request_id: 'q1',
      operation_id: 'o',
      node_id: 'n',
      agent: 'lint',
      ...node,
      asked_at: at,
      expires_at: at,
    }
    const open = { ...asked, question: 'May it?', answered_at: null, answered_by: null }
    const described = (more: Pick<ApprovalView, 'status' | 'answer'>) =>
      describeQuestion('r1', { kind: 'approval', call, ...open, ...more }).split('\n')
    expect(described({ status: 'open', answer: null })).toEqual([
      'q1  lint src/a.py Shelf.count asks to call write_file with',
      '    path: "a.py"',
      '    content:',
      '      | x',
      '      | path: "b.py"',
      '    flags: []',
      `  open until ${at}: remora answer r1 q1 --allow | --allow-for-run | --deny [TEXT]`,
    ])
    const denied = { status: 'answered', answer: { verdict: 'deny', reason: 'not now' } } as const
    expect(described(denied).at(-1)).toBe('  answered: deny: not now')
  })

  it('says each question once in a pipe', () => {
    const linesOf = openNewQuestions()
    expect(linesOf(fold(waiting))).toEqual([
      'q1  lint src/a.py Shelf.count asks: Which one? (a | b)\n  remora answer r1 q1 TEXT',
    ])
    expect(linesOf(fold(waiting))).toEqual([])
    expect(linesOf(fold([...waiting, ...asks('q2', { choices: null })]))).toHaveLength(1)
  })
})
