import { AgentBundle, BundleFile } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { nodeId, sha256 } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { NewEvent } from '#domain/event.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Settlement } from '#store/ledger/end-attempt.ts'
import type { PinnedBundle } from '#stages/plan/pin-bundles.ts'
import { planOperations } from '#stages/plan/plan-operations.ts'

const methodsPerFile = 9
const bytesPerNode = 600

/**
 * 25 operations and 25 dependencies a file, from the real planner: `docstring` on the file, its class, nine methods and a
 * function, inner first; `lint` after it on each of them; `summary` on the file after both.
 */
export const operationsPerFile = 25

export function plannedOperations(files: number): PlannedOperation[] {
  const nodes = Array.from({ length: files }, (_, file) => nodesOf(file)).flat()
  const bundles = [
    pinned('docstring', { node_kinds: ['file', 'class', 'method', 'function'], containment: 'inner_first' }),
    pinned('lint', { node_kinds: ['file', 'class', 'method', 'function'], after: ['docstring'] }),
    pinned('summary', { node_kinds: ['file'], after: ['docstring', 'lint'] }),
  ]
  return planOperations(nodes, bundles).operations
}

function pinned(name: string, file: Partial<BundleFile>): PinnedBundle {
  const parsed = BundleFile.parse({
    name,
    description: 'd',
    languages: ['python'],
    initial_context: { system_prompt: 's', node_context: 'n' },
    tools: [{ builtin: 'submit_result' }],
    ...file,
  })
  return { hash: sha256(name), bundle: AgentBundle.parse({ file: parsed, tools: [], scripts: {}, hostInputs: {} }) }
}

function nodesOf(file: number): CodeNode[] {
  const path = `src/services/billing/part_${Math.floor(file / 40)}/module_${file}.py`
  const bytes = (methodsPerFile + 1) * bytesPerNode
  const whole = nodeOf(path, { kind: 'file', name: `module_${file}.py`, from: 0, to: bytes }, null)
  const inClass = { kind: 'class', name: 'InvoiceRepository', from: 1, to: methodsPerFile * bytesPerNode }
  const around = nodeOf(path, inClass, whole)
  const methods = Array.from({ length: methodsPerFile }, (_, at) => {
    const [from, to] = [at * bytesPerNode + 2, (at + 1) * bytesPerNode]
    return nodeOf(path, { kind: 'method', name: `find_invoices_${at}`, from, to }, around)
  })
  const last = { kind: 'function', name: 'open_repository', from: methodsPerFile * bytesPerNode, to: bytes }
  return [whole, around, ...methods, nodeOf(path, last, whole)]
}

type Place = { kind: string; name: string; from: number; to: number }

function nodeOf(path: string, { kind, name, from, to }: Place, parent: CodeNode | null): CodeNode {
  const outer = parent === null || parent.kind === 'file' ? '' : `${parent.qualifiedName}.`
  const qualifiedName = kind === 'file' ? path : `${outer}${name}`
  return {
    nodeId: nodeId({ path, kind, qualifiedName, ordinal: 0 }),
    kind,
    name,
    qualifiedName,
    path,
    language: 'python',
    startLine: 1 + Math.floor(from / 30),
    endLine: 1 + Math.floor(to / 30),
    startByte: from,
    endByte: to,
    parentId: parent?.nodeId ?? null,
    hash: sha256(`${path} ${qualifiedName}`),
  }
}

const origin = { kind: 'worker', id: 'worker-3f9a1c27' } as const
const model = 'Qwen/Qwen3-4B-Instruct-2507'

/**
 * What a worker writes of an attempt of three turns, in the sizes of a real run of `docstring` on examples/inventory
 * (2026-11-21): three appends and a settlement, 16 events, to which the ledger adds its own: 18 an operation.
 */
type PlayedAttempt = { appends: NewEvent[][]; settlement: Settlement }

export function playAttempt({ operationId, node }: Attempt): PlayedAttempt {
  const summary = `Wrote a docstring for ${node.name}.`
  const first = toolTurn(1, 'read_docstring', '{}', `${node.name} has no docstring`)
  const text = JSON.stringify({ docstring: `Represent the ${node.name} of this module.` })
  const second = toolTurn(2, 'write_docstring', text, `docstring written to ${node.path}`)
  const [third, ...rest] = [...asked(3), ...submitted(summary, `c${sha256(operationId).slice(0, 16)}`, node.path)]
  const [begin, ...one] = first
  const [next, ...two] = second
  return {
    appends: [[begin], [...one, next], [...two, third]].map((events) => events.flatMap((event) => event ?? [])),
    settlement: { ...settlementOf(operationId, node.path, summary), events: rest },
  }
}

/** A settlement with three events besides those the ledger adds. */
export function shortSettlement({ operationId, node }: Attempt): Settlement {
  const summary = `Wrote a docstring for ${node.name}.`
  const events = submitted(summary, `c${sha256(operationId).slice(0, 16)}`, node.path)
  return { ...settlementOf(operationId, node.path, summary), events }
}

/** Three events as they are appended after a turn. */
export function shortAppend({ node }: Attempt): NewEvent[] {
  return toolTurn(1, 'read_docstring', '{}', `${node.name} has no docstring`).slice(2)
}

function settlementOf(operationId: string, path: string, summary: string): Omit<Settlement, 'events'> {
  const checks = ['parses', 'lint_before_after', 'docstring_only', 'only_node_changed']
  return {
    outcome: {
      status: 'succeeded',
      summary,
      recordHash: sha256(`record ${operationId}`),
      changeSetId: `c${sha256(operationId).slice(0, 16)}`,
      changedFiles: [path],
      turns: 3,
      promptTokens: 2063,
      completionTokens: 148,
      durationMs: 7612,
    },
    result: { evidence: checks.map((check) => ({ check, path, ok: true, tool: 'ruff 0.17.3', before: 3, after: 2 })) },
  }
}

function asked(turn: number): NewEvent[] {
  const data = { attempt: 1, turn, messages: 2 * turn, tools: 3, tool_choice: 'required', model }
  const counted = { prompt_tokens: 704, completion_tokens: 45 }
  const answer = { attempt: 1, turn, model, calls: 1, finish_reason: 'tool_calls', ...counted }
  return [
    { event: 'model.requested', phase: 'model', origin, data },
    { event: 'model.responded', phase: 'model', origin, durationMs: 1873.42, ageMs: 61, data: answer },
  ]
}

function toolTurn(turn: number, toolName: string, args: string, summary: string): NewEvent[] {
  const called = { attempt: 1, turn, call_id: `call_${turn}_8f2e`, arguments: args }
  const returned = { attempt: 1, turn, call_id: `call_${turn}_8f2e`, outcome: 'success', summary } as const
  return [
    ...asked(turn),
    { event: 'tool.called', phase: 'tools', origin, toolName, ageMs: 60, data: called },
    { event: 'tool.returned', phase: 'tools', origin, toolName, durationMs: 4.21, ageMs: 55, data: returned },
    { event: 'turn.finished', phase: 'execution', origin, ageMs: 55, data: { attempt: 1, turn, calls: 1 } },
  ]
}

function submitted(summary: string, changeSetId: string, path: string): NewEvent[] {
  const checks = ['parses', 'lint_before_after', 'docstring_only', 'only_node_changed'] as const
  const evidence = checks.map((check) => ({ check, ok: true }))
  const changed = { attempt: 1, change_set_id: changeSetId, files: [{ path, kind: 'edit' as const }], evidence }
  return [
    {
      event: 'submission.received',
      phase: 'submission',
      origin,
      data: { attempt: 1, turn: 3, status: 'success', summary },
    },
    { event: 'turn.finished', phase: 'execution', origin, data: { attempt: 1, turn: 3, calls: 1 } },
    { event: 'change_set.created', phase: 'submission', origin, data: changed },
  ]
}
