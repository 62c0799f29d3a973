import { z } from '@hono/zod-openapi'
import { CommitsBody, PatchKindShape, PatchSets, PlannedCommits } from '#schemas/patch-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

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

const patchErrors = ['RUN_001', 'RUN_005', 'RUN_006', 'RUN_007', 'STORE_002', 'STORE_003'] as const

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
    request: { params: RunParams, body: { content: { 'application/json': { schema: CommitsBody } } } },
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
