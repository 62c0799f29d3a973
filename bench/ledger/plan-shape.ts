import { AgentBundle, BundleFile } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/hash.ts'
import { nodeId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { PinnedBundle } from '../../services/discovery/plan/pinned-bundle.ts'
import { planOperations } from '../../services/discovery/plan/plan-operations.ts'

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
