import type { RunSummary } from '#schemas/run-schema.ts'

export const runStatuses = [
  'queued',
  'running',
  'waiting',
  'completed',
  'blocked',
  'failed',
  'cancelled',
] as const satisfies readonly RunSummary['status'][]

const titleCharacters = 90

/** Names a run after what it is for: the first line of its objective, or its agents and where they work. */
export function runTitle({ request }: Pick<RunSummary, 'request'>): string {
  const where = request.paths === undefined ? '' : ` on ${request.paths.join(' ')}`
  const line = request.objective?.split('\n')[0] ?? `${request.agents.join(', ')}${where}`
  const title = line.length > titleCharacters ? `${line.slice(0, titleCharacters)}…` : line
  return request.dry_run ? `Dry run: ${title}` : title
}

export function repositoryName({ repository }: Pick<RunSummary, 'repository'>): string {
  return repository === null ? '' : `${repository.owner}/${repository.name} ${repository.ref}`
}

/** Says whether each of the words stands in the id, the objective, the agents, the labels or the repository of a run. */
export function matchesRun(run: RunSummary, words: string): boolean {
  const { objective = '', agents, labels } = run.request
  const labelTexts = Object.entries(labels).map(([name, text]) => `${name}=${text}`)
  return wordsMatcher(words)([run.run_id, objective, ...agents, ...labelTexts, repositoryName(run)].join('\n'))
}

/** Returns whether each of the words stands in a text, in capitals or not. */
export function wordsMatcher(words: string): (text: string) => boolean {
  const wanted = words.toLowerCase().split(/\s+/)
  return (text) => {
    const searched = text.toLowerCase()
    return wanted.every((word) => searched.includes(word))
  }
}

export type Counts = Readonly<Record<string, number>>

/** Lists the statuses of operations in the order in which bars and legends show them. */
export const operationStatuses = [
  'succeeded',
  'unchanged',
  'skipped',
  'cancelled',
  'failed',
  'blocked',
  'waiting',
  'running',
  'dispatched',
  'ready',
  'pending',
] as const satisfies readonly (keyof RunSummary['counts'])[]

const openStatuses: ReadonlySet<string> = new Set(['waiting', 'running', 'dispatched', 'ready', 'pending'])

export function isEndedStatus(status: string): boolean {
  return !openStatuses.has(status)
}

/** Counts the operations of a run, and those of them that have ended. */
export function totalsOf(counts: Counts): { total: number; ended: number } {
  let [total, ended] = [0, 0]
  for (const [status, count] of Object.entries(counts)) {
    total += count
    if (isEndedStatus(status)) ended += count
  }
  return { total, ended }
}
