import type { RunAnswer } from '#domain/agenda.ts'
import type { Run } from '#domain/run.ts'
import type { Operation } from '#domain/operation.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { readSnapshot } from '#store/objects/snapshot.ts'
import { getFindings } from '#store/objects/stored-records.ts'
import type { Nameable } from './decision-faults.ts'

export type CiteDeps = { ledger: Pick<Ledger, 'listReported'>; objects: ObjectStore }

/** Finds out which of the files and findings exist that an answer cites. It costs nothing where it cites none. */
export async function citedIn(
  { paths, findings }: Pick<RunAnswer, 'paths' | 'findings'>,
  run: Run,
  deps: CiteDeps,
): Promise<Pick<Nameable, 'paths' | 'findings'>> {
  return {
    paths: paths.length === 0 ? new Set() : await filesOf(paths, run, deps),
    findings: findings.length === 0 ? new Set() : await placesOf(new Set(findings.map(({ path }) => path)), run, deps),
  }
}

async function filesOf(paths: readonly string[], { projectId, snapshotId }: Run, { objects }: CiteDeps) {
  if (snapshotId === null) return new Set<string>()
  const snapshot = await readSnapshot(objects, projectId, snapshotId)
  return new Set(paths.filter((path) => snapshot.find(path) !== undefined))
}

const pageOperations = 500
/** Each is one object to read. Those whose node is in a cited file come first. */
const mostRecords = 200

async function placesOf(paths: ReadonlySet<string>, { runId, projectId }: Run, { ledger, objects }: CiteDeps) {
  const reported: Operation[] = []
  for (let cursor: string | null = '0'; cursor !== null;) {
    const page = await ledger.listReported(runId, { cursor, limit: pageOperations })
    reported.push(...page.operations)
    cursor = page.next
  }
  const near = (operation: Operation) => (paths.has(operation.node.path) ? 0 : 1)
  const read = reported.toSorted((one, other) => near(one) - near(other)).slice(0, mostRecords)
  const places = new Set<string>()
  for (const { outcome } of read) {
    if (outcome?.recordHash === undefined) continue
    for (const { path, line } of await getFindings(objects, projectId, outcome.recordHash))
      places.add(`${path}:${line}`)
  }
  return places
}
