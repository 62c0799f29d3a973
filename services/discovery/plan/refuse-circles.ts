import type { AgentBundle } from '#domain/agent-bundle.ts'
import { AppError } from '#domain/error.ts'

/**
 * AGENT_001 naming the circle when bundles of one run wait for each other. An `after` that names a bundle which is not
 * among them waits for nothing.
 */
export function refuseCircles(bundles: readonly AgentBundle[]): void {
  const afterOf = new Map(bundles.map(({ file }) => [file.name, file.after]))
  const cleared = new Set<string>()
  const follow = (name: string, path: readonly string[]): void => {
    const start = path.indexOf(name)
    if (start !== -1)
      throw new AppError(
        'AGENT_001',
        `agents wait for each other in a circle: ${[...path.slice(start), name].join(' after ')}`,
      )
    if (cleared.has(name)) return
    for (const other of afterOf.get(name) ?? []) follow(other, [...path, name])
    cleared.add(name)
  }
  for (const name of afterOf.keys()) follow(name, [])
}
