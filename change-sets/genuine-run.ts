import { AppError, undefinedOn } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'

/**
 * PUBLISH_005 for a run that neither the API nor the publisher has asked for as it is now, or one that it retries, or whose commit is not the one that was
 * asked for: nothing of it may reach a code host. A retry that discovery has started has no signature; it is genuine where it may do the same
 * as the run that it retries, in the same repository.
 */
export async function requireGenuine(run: Run, ledger: Pick<Ledger, 'getRun'>): Promise<void> {
  const seen = new Set<RunId>()
  for (let one: Run | undefined = run; one !== undefined;) {
    const { retryOf, repository }: Run['request'] = one.request
    const former: Run | undefined =
      retryOf === undefined ? undefined : await ledger.getRun(retryOf).catch(undefinedOn('RUN_001'))
    const isSigned = !one.unsigned.includes('request')
    if (!isSigned && (former === undefined || seen.has(one.runId) || rightsOf(one) !== rightsOf(former)))
      throw new AppError('PUBLISH_005', `the request of run ${one.runId} is not as it was signed`)
    if (one.commit !== null && repository?.commit !== undefined && one.commit !== repository.commit)
      throw new AppError('PUBLISH_005', `run ${one.runId} is not of the commit that was asked for`)
    seen.add(one.runId)
    one = former
  }
}

/** Returns the parts of a request that decide where the changes of a run go and who accepts them, as a text to compare. */
function rightsOf({ projectId, commit, request: { repository, accept = 'none', labels } }: Run): string {
  // A retry is of the commit that the run before it was found to be of.
  const source = Object.entries({ ...repository, commit: repository?.commit ?? commit })
  return JSON.stringify([projectId, byKey(source), accept, byKey(Object.entries(labels))])
}

function byKey<Value>(entries: readonly [string, Value][]): [string, Value][] {
  return entries.toSorted(([one], [other]) => (one < other ? -1 : 1))
}
