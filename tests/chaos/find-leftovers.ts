import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunId } from '#domain/ids.ts'
import { until } from '#testing/until.ts'
import { stillRunning, workingFolders } from '../living-processes.ts'
import type { ChaosStack } from './chaos-stack.ts'
import { jobsOfRun } from './queue-faults.ts'

/** A stage's job of a killed process is delivered again after its lock of 10 s and two checks for stalled jobs. */
export const cleanWithinMs = 40_000

/**
 * What ended runs and killed processes have left behind: keys of the ledger, jobs (the duplicates among them), children,
 * temporary files but the folders of linters that run. What is still being removed gets some seconds.
 */
export async function findLeftovers(runs: readonly { runId: RunId }[], stack: ChaosStack): Promise<string[]> {
  let left: string[] = []
  const isClean = async () => (left = await leftNow(runs, stack)).length === 0
  await until(isClean, { withinMs: cleanWithinMs }).catch(() => {})
  return left.map((what) => `left behind: ${what}`)
}

async function leftNow(runs: readonly { runId: RunId }[], stack: ChaosStack): Promise<string[]> {
  const ofRuns = await Promise.all(runs.map(({ runId }) => leftOfRun(runId, stack)))
  const inUse = await workingFolders()
  const unused = (await readdir(stack.tempDir)).filter((name) => !inUse.has(join(stack.tempDir, name)))
  const files = unused.map((name) => `temporary file ${name}`)
  return [...ofRuns.flat(), ...(await orphansOf(stack)), ...files]
}

async function leftOfRun(runId: RunId, { redis, ledger }: Pick<ChaosStack, 'redis' | 'ledger'>): Promise<string[]> {
  const inLedger = await ledger.leftovers(await ledger.getRun(runId))
  const jobs = (await jobsOfRun(redis, runId)).map((key) => `job ${key}`)
  return [...inLedger, ...jobs].map((what) => `run ${runId}: ${what}`)
}

async function orphansOf({ workers, discovery, secondDiscovery, apiProcess }: ChaosStack): Promise<string[]> {
  const services = [...workers, discovery, secondDiscovery, apiProcess]
  const alive = await Promise.all(
    services.map(async (service) => ({ service, pids: await stillRunning(service.orphans()) })),
  )
  return alive.flatMap(({ service, pids }) =>
    pids.map((pid) => `process ${pid}, a child of a ${service.name} that ended`),
  )
}
