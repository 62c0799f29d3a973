import { sizeOfSets } from '#change-sets/sets-of-run.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { AppError, type ErrorCode } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { Span } from '#domain/span.ts'
import type { WantedPatch } from '#domain/run.ts'
import { openPutPermit } from '#store/ledger/collection-window.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { openLinter } from '#languages/lint/linter.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { permittedPuts } from '#store/objects/object-store.ts'
import { openSnapshotReader } from '#store/objects/snapshot.ts'
import { getChangeSets } from '#store/objects/stored-records.ts'
import { openObjects } from '#store/objects/open-objects.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { repeatEvery } from '#platform/clock.ts'
import { type Logging, openLog, silentLog } from '#platform/log.ts'
import { connectRedis } from '#platform/redis-client.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { openSandbox, type SandboxOptions } from '#sandbox/open-sandbox.ts'
import type { SandboxLimits } from '#sandbox/sandboxed-program.ts'
import { answerRequests } from '#platform/thread-entry.ts'
import type { StorageConfig } from '#settings/storage-settings.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { openEvidenceChecker } from '#stages/operate/evidence/evidence-checker.ts'
import { openRunRules } from '#stages/operate/evidence/run-rules.ts'
import { type EnvironmentsOptions, openEnvironments } from '#stages/operate/tools/programs/environments.ts'
import { openSnapshotArchives, storedFiles } from '#sandbox/snapshot-archives.ts'
import { openSyntaxChecker } from '#stages/operate/evidence/syntax-evidence.ts'
import { composePatch } from './compose-patch.ts'
import { composeRun, type CompositionDeps } from './compose-run.ts'
import type { GroupProof } from './prove-composition.ts'

/** Holds all that the thread knows: it reads no settings of its own. */
export type ComposeQuestion = {
  runId: RunId
  /** The patch to compose of a run; undefined: the run is to be composed and ended. */
  patch?: WantedPatch | undefined
  /** `secrets`: what its events must hide. */
  worker: {
    workerId: string
    storage: StorageConfig
    environments: Pick<EnvironmentsOptions, 'dir' | 'keptBytes'>
    sandbox: SandboxOptions & { limits: SandboxLimits; gateLimitS: number }
    secrets: readonly string[]
    logging: Logging
  }
}

/** `fault`: one that may pass, for which the run is left as it is. `cause`: what a store said. `spans`: of runs that it ended. */
export type ComposeReport = {
  fault?: { code: ErrorCode; message: string; cause: string | undefined }
  spans: readonly Span[]
}

/** Limits what is kept from one patch of a run to the next, which differs from it by a few decisions. */
const keptBytes = 32 * 2 ** 20
const changeSets = openCachedAnswers<readonly ChangeSet[]>({ maxSize: keptBytes, sizeOf: sizeOfSets })
const proofs = openCachedAnswers<GroupProof>({ maxSize: keptBytes, sizeOf: ({ left }) => sizeOfSets(left) })

/** Contents of files that are made again, without the set that broke them. */
const blobCacheBytes = 32 * 2 ** 20
/** Characters of the texts that are kept as read: the same file may be composed again, without a set that broke it. */
const cachedLength = 1_000_000
/** Ruff and the grammar take a while to start, so the thread keeps them from one run to the next. */
let checks: ReturnType<typeof openChecks> | undefined
const sockets = 16
const signOfLifeMs = 1_000

/** Stays open as long as the thread lives, a minute after its last run: what its stores have put is not put again. */
let opened: Promise<CompositionDeps> | undefined

/** Collects the spans until the report has them. */
const spans: Span[] = []

answerRequests<ComposeQuestion, ComposeReport>(async (question, begin) => {
  begin(0)
  // The thread's time limit is for standing still: a store that is away may keep a composition waiting for long.
  const stopSigns = repeatEvery(signOfLifeMs, async () => begin(0))
  try {
    const deps = await (opened ??= openDeps(question))
    const { runId, patch } = question
    const { signal } = new AbortController()
    await (patch === undefined ? composeRun(runId, deps, signal) : composePatch({ runId, ...patch }, deps, signal))
    return { spans: spans.splice(0) }
  } catch (error) {
    if (error instanceof AppError) return { fault: faultIn(error), spans: spans.splice(0) }
    throw error
  } finally {
    await stopSigns()
  }
})

function faultIn({ code, message, cause }: AppError): NonNullable<ComposeReport['fault']> {
  return { code, message, cause: cause instanceof Error ? cause.message : undefined }
}

/** Their threads end with this one. */
async function openChecks(places: Pick<SandboxOptions, 'searchPath'>) {
  const [linter, python] = await Promise.all([openLinter(places), loadLanguage('python', { cachedLength })])
  return {
    linter,
    python,
    evidence: openEvidenceChecker({ linter, python, syntax: openSyntaxChecker(), cachedLength, inFull: true }),
  }
}

/** Connections of its own, which say nothing in the log: those of the worker's main thread to the same stores do. */
async function openDeps({ worker }: ComposeQuestion): Promise<CompositionDeps> {
  const { workerId, logging, secrets, sandbox } = worker
  const { redisUrl, s3, events } = worker.storage
  const redactor = openRedactor(secrets)
  const { redis } = connectRedis(redisUrl, { retries: null }, silentLog)
  const store = await openObjects({ ...s3, maxSockets: sockets })
  const permit = openPutPermit(redis)
  const objects = permittedPuts(store, permit)
  const blobs = openBlobStore(objects, { maxCacheBytes: blobCacheBytes, permit })
  const { linter, ...proving } = await (checks ??= openChecks(sandbox))
  const snapshot = openSnapshotReader(objects)
  const archives = openSnapshotArchives(storedFiles(snapshot, blobs))
  return {
    ...proving,
    programs: {
      sandbox: openSandbox(sandbox),
      limits: sandbox.limits,
      gateLimitS: sandbox.gateLimitS,
      archive: archives.open,
      environment: openEnvironments({ ...worker.environments, objects }),
      snapshot,
    },
    ledger: openLedger(redis, {
      origin: { kind: 'worker', id: workerId },
      archive: openEventSegments(objects, events),
      redactor,
      log: openLog({ service: 'worker', instance: workerId, ...logging, redactor }),
      traces: { record: (span) => void spans.push(span) },
    }),
    objects,
    blobs,
    runRules: openRunRules({ objects, blobs, linter }),
    readSets: (project, hash) => changeSets.get(`${project} ${hash}`, () => getChangeSets(objects, project, hash)),
    proofs,
    workerId,
  }
}
