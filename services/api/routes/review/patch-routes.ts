import { Readable } from 'node:stream'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { believedDecisions } from '#change-sets/accepted-sets.ts'
import { askPatch, type AskPatchDeps, withoutPatch } from '#change-sets/ask-patch.ts'
import { gitBlobId, type PlannedCommit } from '#domain/planned-commit.ts'
import { modelKindOf } from '#domain/model-kind.ts'
import type { PatchKind, Run } from '#domain/run.ts'
import { type Composition, conflictView } from '#store/objects/composition.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { checkAsked } from '#stages/publish/check-publishable.ts'
import { commitMessage } from '#stages/publish/commit-message.ts'
import { planCommits, type SizedCommit } from '#stages/publish/plan-commits.ts'
import { pullText } from '#stages/publish/pull-text.ts'
import { type Publishable, type PublishableDeps, readPublishable } from '#stages/publish/read-publishable.ts'
import { withoutSets } from '#stages/publish/without-sets.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { AskAgain } from '../../http/problem.ts'
import { gateView } from '../runs/part-views.ts'
import { findRun } from '../runs/run-view.ts'
import { archiveOf, compositionId } from './result-archive.ts'
import { type ChangeDeps, patchOf } from './run-changes.ts'
import { CommitsBody, PatchKindShape, PatchSets, PlannedCommits } from '#schemas/patch-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer, jsonBody } from '../../http/endpoint.ts'

const PatchQuery = z.strictObject({
  of: PatchKindShape.default('proposed'),
})

const ArchiveQuery = z.strictObject({
  ...PatchQuery.shape,
  files: z
    .enum(['all', 'changed'])
    .openapi('ArchiveFiles')
    .default('all')
    .openapi({ default: 'all', description: 'the whole tree, or only the files that the patch changes' }),
  side: z.enum(['after', 'before']).openapi('ArchiveSide').default('after').openapi({
    default: 'after',
    description:
      'the files with the changes, or as they were before them; `before` with `all` is what the run was given',
  }),
})

const patchProse = `
The bytes of the repository, secrets that stand in them included. It is proved as a whole: what breaks a file together with the
others is left out. After a decision a worker composes it again, which the request waits for: RUN_006 when that takes longer, or
before the run is composed (\`proposed\`). The accepted patch exists while the run goes on, too. RUN_007 when a run ended before
its changes were composed (cancelled, failed): a retry makes a patch.`

const archiveProse = `
The same changes as in the patch, as files with their modes and symbolic links: a deleted file is not in the tree after them, and
one that they create is not in the one before. The tree before them exists as soon as the run has read what it was given. If a
file cannot be read after the answer has begun, the answer breaks off. \`remora-composition\` names the changes: two archives with the
same one are two sides of the same changes, although somebody may have decided in between.`

const setsProse = `
What was accepted and is not in the accepted patch is here, with the check that fails: what was decided before the run was composed, or what
breaks a file only in the part that was accepted. \`gate\` is what the run's gate found of this patch: of a part of what it proved, it runs
again. Composed as the patch is, with the same answers while there is none.`

const commitsProse = `
One commit for each agent, in the order in which they build on each other; each says only what it changes. After the last one every file is
as it is in the patch. None when nothing is in that. Asking changes nothing. The bytes of the repository, as in the patch. PUBLISH_001 when the change sets do not
come to the patch, or have more than 64 MiB.`

const patchErrors = ['RUN_006', 'RUN_007', 'STORE_002', 'STORE_003'] as const

export const patchEndpoints = {
  patch: endpoint('runs:read', patchErrors, {
    method: 'get',
    path: '/v1/runs/{run_id}/patch',
    operationId: 'getPatch',
    summary: 'One diff of its changes, proposed or accepted, for git apply',
    description: patchProse.trim(),
    request: { params: RunParams, query: PatchQuery },
    responses: {
      200: { description: 'the patch', content: { 'text/x-diff': { schema: z.string() } } },
      204: { description: 'nothing changed' },
    },
  }),
  sets: endpoint('runs:read', patchErrors, {
    method: 'get',
    path: '/v1/runs/{run_id}/patch/sets',
    operationId: 'getPatchSets',
    summary: 'How many change sets are in the patch, and which are left out of it, and why',
    description: setsProse.trim(),
    request: { params: RunParams, query: PatchQuery },
    responses: { 200: jsonAnswer('what is in the patch', PatchSets) },
  }),
  commits: endpoint('runs:read', [...patchErrors, 'PUBLISH_001'], {
    method: 'post',
    path: '/v1/runs/{run_id}/commits',
    operationId: 'planCommits',
    summary: 'Its changes as commits, one for each agent, with their messages',
    description: commitsProse.trim(),
    request: { params: RunParams, body: jsonBody(CommitsBody) },
    responses: { 200: jsonAnswer('the commits', PlannedCommits) },
  }),
  archive: endpoint('runs:read', patchErrors, {
    method: 'get',
    path: '/v1/runs/{run_id}/archive',
    operationId: 'getArchive',
    summary: 'The tree that its changes result in, or the files that they change, as a tar.gz',
    description: archiveProse.trim(),
    request: { params: RunParams, query: ArchiveQuery },
    responses: {
      200: {
        description: 'the archive',
        headers: z.object({ 'remora-composition': z.string() }),
        content: { 'application/gzip': { schema: z.string().openapi({ format: 'binary' }) } },
      },
      204: { description: 'only the changed files were asked for, and nothing changed' },
    },
  }),
} as const

type PatchRouteDeps = Pick<ChangeDeps, 'records'> & AskPatchDeps & PublishableDeps

const shownLeftOut = 100

export function addPatchRoutes(routes: OpenAPIHono<ApiEnv>, deps: PatchRouteDeps): void {
  routes.openapi(patchEndpoints.patch, async (c) => {
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    const composition = await findPatch(run, c.req.valid('query').of, deps, c.req.raw.signal)
    const parts = patchOf(composition, (hash) => deps.records.readBlob(run.projectId, hash))
    const first = await parts.next() // when a blob of the first file is missing, the answer can still be a problem
    if (first.done === true) return c.body(null, 204)
    return c.body(streamOf(first.value, parts), 200, {
      'content-type': 'text/x-diff',
      'content-disposition': `attachment; filename="${run.runId}.patch"`,
    })
  })
  routes.openapi(patchEndpoints.archive, async (c) => {
    const { of, ...choice } = c.req.valid('query')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    const isSnapshot = choice.files === 'all' && choice.side === 'before'
    const composition = isSnapshot ? { files: [] } : await findPatch(run, of, deps, c.req.raw.signal)
    const parts = archiveOf({ composition, ...(await treeOf(run, deps)) }, choice)
    const first = await parts?.next()
    if (parts === null || first === undefined || first.done === true) return c.body(null, 204)
    return c.body(streamOf(first.value, parts), 200, {
      'content-type': 'application/gzip',
      'content-disposition': `attachment; filename="${run.runId}.tar.gz"`,
      'remora-composition': compositionId(composition),
    })
  })
  routes.openapi(patchEndpoints.commits, async (c) => {
    const { of, without } = c.req.valid('json')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    const whole = await readPublishable(run, await findPatch(run, of, deps, c.req.raw.signal), deps)
    const publishable = withoutSets(whole, without)
    const planned = await planCommits(publishable)
    if (of === 'accepted') checkAsked(planned, await acceptedIn(run, deps))
    const commits = await mapBounded(planned, 1, (commit) => commitView(commit, publishable))
    const { commit, request } = run
    const branch = request.repository?.branch ?? null
    const pull = pullRequestView(planned, publishable)
    return c.json({ run_id: run.runId, of, commit, branch, commits, pull_request: pull }, 200)
  })
  routes.openapi(patchEndpoints.sets, async (c) => {
    const { of } = c.req.valid('query')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    const sets = setsView(await findPatch(run, of, deps, c.req.raw.signal))
    return c.json({ run_id: run.runId, of, ...sets }, 200)
  })
}

/** A worker composes the patch, and cannot say what is accepted. */
async function acceptedIn(run: Run, { ledger }: PatchRouteDeps): Promise<Set<string>> {
  const { byChangeSet } = await believedDecisions(run, ledger)
  return new Set([...byChangeSet].flatMap(([id, { verdict }]) => (verdict === 'accepted' ? id : [])))
}

function setsView({ files, conflicts, gate }: Composition) {
  return {
    change_sets: new Set(files.flatMap(({ changeSetIds }) => changeSetIds)).size,
    left_out_count: conflicts.length,
    left_out: conflicts.slice(0, shownLeftOut).map(conflictView),
    gate: gateView(gate),
  }
}

/** Proxies and clients usually wait so long for an answer. */
const mostWaitMs = 25_000
const askAgainS = 5

/** RUN_006 when a worker has not composed it in time, RUN_007 when the run ended without a patch; else the worker's fault. */
async function findPatch(run: Run, of: PatchKind, deps: AskPatchDeps, signal: AbortSignal): Promise<Composition> {
  const answer = await askPatch(run, of, deps, { waitMs: mostWaitMs, signal })
  if (answer.kind === 'there') return answer.composition
  if (answer.kind === 'faulty') throw answer.fault
  const soon = 'ask again in a moment; it takes a worker, which "remora workers" lists'
  throw new AskAgain('RUN_006', `The patch of run ${run.runId} is being composed anew: ${soon}.`, askAgainS)
}

const blobsAtOnce = 16

async function commitView(commit: PlannedCommit, publishable: Publishable) {
  const setsAt = new Map(publishable.composition.files.map(({ path, changeSetIds }) => [path, changeSetIds]))
  const files = await mapBounded(
    commit.files,
    blobsAtOnce,
    async ({ path, executable, changesMode = false, content, baseHash }) => ({
      path,
      executable,
      changes_mode: changesMode,
      content_base64: content && Buffer.from(content).toString('base64'),
      base_sha1: baseHash && gitBlobId(await publishable.readBlob(baseHash)),
      change_set_ids: setsAt.get(path) ?? [],
    }),
  )
  const message = commitMessage(commit, publishable)
  return { agent: commit.agent, message, change_set_ids: commit.changeSetIds, files }
}

/** Writes the text for a host whose comments nobody reads. */
function pullRequestView(commits: readonly SizedCommit[], publishable: Publishable) {
  if (commits.length === 0) return null
  const { run, composition } = publishable
  const isRehearsal = modelKindOf(run.request.labels) === 'rehearsal'
  const target = run.request.repository?.branch ?? null
  const rest = { target, carried: 0, left: 0, lost: 0, runUrl: undefined, isRehearsal, takesComments: false }
  const text = pullText({ ...publishable, ...rest, commits })
  return { ...text, is_draft: composition.gate?.verdict !== 'passed' }
}

/** RUN_006 or RUN_007 while a run has no snapshot, or when it ended before there was one. */
async function treeOf(run: Run, { records }: Pick<PatchRouteDeps, 'records'>) {
  const { projectId, snapshotId } = run
  if (snapshotId === null) throw withoutPatch(run)
  const readBlob = (hash: string) => records.readBlob(projectId, hash)
  return { snapshot: await records.readSnapshot(projectId, snapshotId), readBlob }
}

function streamOf(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): ReadableStream {
  async function* all() {
    yield first
    yield* rest
  }
  return Readable.toWeb(Readable.from(all()))
}
