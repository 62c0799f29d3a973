import { sha256 } from '#domain/ids.ts'
import type { Operation } from '#domain/operation.ts'
import type { AttemptRecord, Exchange, SuspendedAttempt } from '#store/objects/attempt-record.ts'
import { plannedOperation } from '../../played-run.fixture.ts'

const { operationId, node } = plannedOperation('total')
const began = Date.UTC(2026, 0, 2, 3, 4, 5)
const runId = 'r0123456789'

function exchange(turn: number, over: Partial<Exchange> = {}): Exchange {
  return {
    turn,
    startedAt: began + 1000 * turn,
    durationMs: 500,
    firstTokenMs: 100,
    model: 'small-model',
    endpoint: 'http://gpu-1:8000/v1',
    tries: 1,
    toolChoice: 'required',
    messages: 2,
    leftOut: 0,
    usage: { promptTokens: 1200, completionTokens: 40 },
    finishReason: 'tool_calls',
    ...over,
  }
}

/**
 * Four turns: a tool that is called twice under one id and answers several lines, a call whose arguments are no JSON, a
 * request that failed and was made again, and a submission that was refused once. Their texts contain Markdown and terminal control sequences.
 */
export const aConversation: Pick<AttemptRecord, 'messages' | 'replies' | 'exchanges' | 'tools'> = {
  messages: [
    { role: 'system', content: 'You fix <b>code</b>.\n' },
    { role: 'user', content: 'The node:\n\n```python\ndef total():\n    return "\u001B[31mred\u202E"\n```' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [
        { id: 'call_0', name: 'read_file', arguments: '{"path":"a.py"}' },
        { id: 'call_1', name: 'read_file', arguments: '{"path":', parsedFromContent: true },
      ],
    },
    { role: 'tool', toolCallId: 'call_0', content: '{"outcome":"success","result":"def…' },
    { role: 'tool', toolCallId: 'call_1', content: '{"outcome":"error","summary":"not JSON"}' },
    { role: 'assistant', content: 'Let me think. # No heading', toolCalls: [] },
    { role: 'user', content: 'You answered without a tool call.' },
    { role: 'assistant', content: null, toolCalls: [{ id: 'call_0', name: 'submit_result', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'call_0', content: 'Submission refused: status: missing' },
    {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'call_0', name: 'submit_result', arguments: '{"status":"success","summary":"Done."}' }],
    },
    { role: 'tool', toolCallId: 'call_0', content: 'Submitted.' },
  ],
  replies: [{ id: 'reply 1' }, { id: 'reply 2' }, { id: 'reply 3' }, { id: 'reply 4' }],
  exchanges: [
    exchange(1, { workarounds: ['the tool choice was left out'] }),
    exchange(2, {
      messages: 5,
      finishReason: 'stop',
      endpoint: 'http://gpu-2:8000/v1',
      tries: 3,
      failedTries: [
        { endpoint: 'http://gpu-1:8000/v1', code: 'AGENT_002', message: 'no answer in time', durationMs: 6100 },
        { endpoint: 'http://gpu-2:8000/v1', code: 'AGENT_002', message: 'answered 503 `busy`', durationMs: 3 },
      ],
    }),
    {
      turn: 3,
      startedAt: began + 3000,
      durationMs: 70_000,
      model: 'small-model',
      toolChoice: 'required',
      messages: 7,
      leftOut: 0,
      error: { code: 'AGENT_007', message: 'the context is full:\n8192 tokens' },
    },
    exchange(3, { startedAt: began + 120_000, messages: 4, leftOut: 3 }),
    exchange(4, { startedAt: began + 121_000, messages: 6, leftOut: 3, toolChoice: 'submit_result' }),
  ],
  tools: [
    {
      turn: 1,
      callId: 'call_0',
      name: 'read_file',
      arguments: '{"path":"a.py"}',
      result: {
        outcome: 'success',
        result: { path: 'a.py', text: 'def total():\n    return 1\n' },
        summary: 'read `a.py`',
        knowledgeDelta: {},
      },
      externals: [
        { name: 'read_file', args: ['a.py', null], answer: 'x'.repeat(200) },
        { name: 'read_file', args: ['b.py'], error: { type: 'FileNotFoundError', message: 'b.py' } },
      ],
      printed: 'looked at a.py\n',
      durationMs: 12.34,
      scriptMs: 3.21,
    },
    {
      turn: 1,
      callId: 'call_1',
      name: 'read_file',
      arguments: '{"path":',
      result: {
        outcome: 'error',
        result: null,
        summary: 'the arguments are not valid JSON',
        knowledgeDelta: {},
        error: 'the arguments are not valid JSON',
        errorCode: 'AGENT_009',
      },
      externals: [],
      durationMs: 0.2,
    },
  ],
}

const base = {
  v: 1,
  runId,
  operationId,
  attempt: 1,
  bundle: 'lint',
  bundleHash: sha256('lint'),
  model: 'small-model',
  versions: { remora: '0.1.0' },
  startedAt: began,
  ...aConversation,
  reads: { contents: {}, listings: {}, absences: [] },
} as const

export function anEndedRecord(): AttemptRecord {
  const { recordHash: _, ...outcome } = anOutcome
  return { ...base, versions: { ...base.versions }, changeSet: aChangeSet, reads: noReads(), outcome }
}

/** The first turn of the same, and a tool that asks. */
export function anAskingRecord(): SuspendedAttempt {
  return {
    ...base,
    versions: {},
    reads: noReads(),
    fixedFirst: 0,
    messages: aConversation.messages.slice(0, 3),
    replies: aConversation.replies.slice(0, 1),
    exchanges: aConversation.exchanges.slice(0, 1),
    tools: [],
    question: { text: 'Shall I?\nIt is risky.', choices: ['yes', 'no'] },
    spentMs: 700,
    usage: { promptTokens: 1200, completionTokens: 40 },
    loop: {
      turn: 1,
      calls: [
        { id: 'call_0', name: 'ask', arguments: '{}' },
        { id: 'call_1', name: 'submit_result', arguments: '{}' },
      ],
      corrected: false,
      unverifiedSubmissions: 0,
      overstatedSubmissions: 0,
      refusedSubmissions: 0,
      refusal: null,
    },
    waiting: {
      scriptHash: 'a',
      inputs: {},
      journal: [{ name: 'read_file', args: ['a.py'], answer: 'x' }],
      asked: { name: 'ask_user', args: ['Shall I?'] },
    },
    written: [],
  }
}

const noReads = (): AttemptRecord['reads'] => ({ contents: {}, listings: {}, absences: [] })

const aChangeSet: NonNullable<AttemptRecord['changeSet']> = {
  changeSetId: 'c0123456789abcdef',
  operationId,
  bundle: 'lint',
  nodeId: node.nodeId,
  files: [{ kind: 'create', path: 'a.py', content: 'x = 1\n' }],
  evidence: [{ check: 'parses', path: 'a.py', ok: true, tool: 'tree-sitter' }],
}

const anOutcome = {
  status: 'succeeded' as const,
  summary: 'Done.',
  recordHash: sha256('record'),
  changeSetId: aChangeSet.changeSetId,
  changedFiles: ['a.py'],
  turns: 4,
  promptTokens: 4800,
  completionTokens: 160,
  durationMs: 122_000,
}

/** The operation as the ledger has it. */
export function anOperation(over: Partial<Operation> = {}): Operation {
  return {
    operationId,
    runId,
    bundle: 'lint',
    bundleHash: sha256('lint'),
    node,
    work: 'agent',
    priority: 10,
    status: 'succeeded',
    attempt: 1,
    dispatch: 1,
    lost: 0,
    dependenciesLeft: 0,
    startedAt: began,
    begunAt: began,
    generation: 1,
    supersededBy: null,
    keptAttempts: [],
    endedAt: began + 122_000,
    outcome: anOutcome,
    waitsFor: null,
    suspensionHash: null,
    startsFrom: [],
    itemId: null,
    repeats: null,
    ...over,
  }
}
