import type { OperationView } from '#schemas/operation-schema.ts'

export type OperationStatus = OperationView['status']

/** Is what lists, trees and charts need of an operation: a run may have 100,000. `endedAt` is in ms since the epoch. */
export type OperationRow = {
  id: string
  agent: string
  path: string
  name: string
  status: OperationStatus
  code: string | undefined
  durationMs: number | undefined
  tokens: number
  endedAt: number | undefined
}

/** Is a row of the tree that can be seen. `operations` are those of a definition, one per agent. */
export type TreeRow = {
  key: string
  name: string
  depth: number
  kind: 'folder' | 'file' | 'definition'
  counts: Readonly<Record<string, number>>
  isOpen: boolean
  operations: readonly OperationRow[]
}

type Node = {
  key: string
  name: string
  kind: TreeRow['kind']
  counts: Record<string, number>
  children: Map<string, Node>
  /** Is undefined once a child came. */
  sorted: readonly Node[] | undefined
  operations: OperationRow[]
}

export type TreeView = {
  /** Names the rows whose children are shown. */
  open: ReadonlySet<string>
  /** Shows only what has operations of one of these statuses; undefined: all. */
  statuses?: readonly string[] | undefined
}

/** Folds operations into folders, files and definitions, each with the counts of what is in it. One operation at a time, in any order. */
export function openOutcomeTree() {
  const root = nodeOf('', '', 'folder')
  return {
    /** `before`: how the operation was when it was set the last time. */
    set(row: OperationRow, before?: OperationRow): void {
      for (const node of nodesOn(root, row)) {
        if (before !== undefined) count(node, before.status, -1)
        count(node, row.status, 1)
        if (node.kind === 'definition') setOperation(node, row)
      }
    },
    /** Forgets all. */
    clear(): void {
      root.children.clear()
      root.sorted = undefined
      root.counts = {}
    },
    /** Lists what can be seen, from top to bottom. */
    rows(view: TreeView): TreeRow[] {
      const shown: TreeRow[] = []
      addRows(root, -1, view, shown)
      return shown
    },
    /** Lists the keys of the folders that lead to a choice: those at the top that hold nothing but one folder. */
    firstOpen(): string[] {
      const keys: string[] = []
      let node: Node | undefined = root
      while (node?.children.size === 1) {
        node = [...node.children.values()][0]
        if (node?.kind === 'folder') keys.push(node.key)
      }
      return keys
    },
  }
}

function nodeOf(key: string, name: string, kind: TreeRow['kind']): Node {
  return { key, name, kind, counts: {}, children: new Map(), sorted: undefined, operations: [] }
}

/** Returns the node of an operation and those around it, from the root on; makes those that are missing. */
function nodesOn(root: Node, { path, name }: OperationRow): Node[] {
  const parts = path.split('/')
  const nodes = [root]
  let node = root
  let key = ''
  for (const [at, part] of parts.entries()) {
    key = at === 0 ? part : `${key}/${part}`
    node = child(node, key, part, at === parts.length - 1 ? 'file' : 'folder')
    nodes.push(node)
  }
  const isFile = path === name || path.endsWith(`/${name}`)
  nodes.push(child(node, `${path}\n${name}`, isFile ? '(the file)' : name, 'definition'))
  return nodes
}

function child(parent: Node, key: string, name: string, kind: TreeRow['kind']): Node {
  const known = parent.children.get(key)
  if (known !== undefined) return known
  const made = nodeOf(key, name, kind)
  parent.children.set(key, made)
  parent.sorted = undefined
  return made
}

function setOperation({ operations }: Node, row: OperationRow): void {
  const at = operations.findIndex(({ id }) => id === row.id)
  operations.splice(at === -1 ? operations.length : at, 1, row)
}

function count(node: Node, status: string, by: number): void {
  node.counts[status] = (node.counts[status] ?? 0) + by
}

function addRows(parent: Node, depth: number, view: TreeView, shown: TreeRow[]): void {
  parent.sorted ??= [...parent.children.values()].toSorted(order)
  for (const node of parent.sorted) {
    if (view.statuses !== undefined && !view.statuses.some((status) => (node.counts[status] ?? 0) > 0)) continue
    const isOpen = view.open.has(node.key)
    const { key, name, kind, counts, operations } = node
    shown.push({ key, name, kind, counts, operations, isOpen, depth: depth + 1 })
    if (isOpen) addRows(node, depth + 1, view, shown)
  }
}

function order(left: Node, right: Node): number {
  const [first, second] = [left.kind === 'folder' ? 0 : 1, right.kind === 'folder' ? 0 : 1]
  return first - second || (left.name < right.name ? -1 : 1)
}
