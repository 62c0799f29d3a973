import type { CodeNode } from '#domain/code-node.ts'

/** The nodes that a plan is made of: those of the files in `paths`. */
export type LookedAt = {
  paths: ReadonlySet<string>
  has(node: CodeNode): boolean
  /** Counts the files that are not looked at. */
  unseen: number
  /** Tells users which these are. */
  notices: readonly string[]
}

/** One definition in so many has work for an agent: so many nodes for each operation are enough in most repositories. */
const nodesPerOperation = 8
/** Fewer nodes are always looked at together. */
const fewNodes = 2_000
const growth = 4

/**
 * Plans the nodes of the first files, and of four times as many until there are `limit` operations, so that a small limit does not pay for linting
 * a large repository. `nodes` come in source order. `planOf` is called with more files each time.
 */
export async function planUpTo<Plan extends { planned: { operations: readonly unknown[] } }>(
  limit: number | undefined,
  nodes: readonly CodeNode[],
  planOf: (part: LookedAt) => Promise<Plan>,
): Promise<Plan> {
  let most = limit === undefined ? nodes.length : Math.max(fewNodes, limit * nodesPerOperation)
  for (;;) {
    const part = firstFiles(nodes, most)
    const plan = await planOf(part)
    if (most >= nodes.length || (limit !== undefined && plan.planned.operations.length >= limit)) return plan
    most *= growth
  }
}

function firstFiles(nodes: readonly CodeNode[], most: number): LookedAt {
  const paths = new Set(nodes.slice(0, most).map(({ path }) => path))
  const left = new Set(nodes.slice(most).flatMap(({ path }) => (paths.has(path) ? [] : [path])))
  const files = left.size === 1 ? 'file is' : 'files are'
  const notices =
    left.size === 0
      ? []
      : [`the limit is reached before ${[...left][0]}: from there on ${left.size} ${files} not looked at`]
  return { paths, has: ({ path }) => paths.has(path), unseen: left.size, notices }
}
