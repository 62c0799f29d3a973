import { AppError } from './error.ts'
import type { Run } from './run.ts'

/**
 * PUBLISH_005 for a run that neither the API nor the publisher has asked for as it is now, or whose commit is not the one that was asked
 * for: nothing of it may reach a code host. A reopening needs no signature, since what it wants gives a run no right that it had not.
 */
export function requireGenuine({ runId, unsigned, commit, request }: Run): void {
  if (unsigned.includes('request'))
    throw new AppError('PUBLISH_005', `the request of run ${runId} is not as it was signed`)
  const wanted = request.repository?.commit
  if (commit !== null && wanted !== undefined && commit !== wanted)
    throw new AppError('PUBLISH_005', `run ${runId} is not of the commit that was asked for`)
}
