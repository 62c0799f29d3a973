import { docLanguageOf } from '#languages/comments/doc-language.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { isGo } from '#domain/path-rules.ts'
import type { Run } from '#domain/run.ts'
import type { BlobStore } from '#store/objects/blob-store.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import type { PinnedBundle } from './pin-bundles.ts'
import { type CommentSurvey, surveyDocComments } from './survey/survey-doc-comments.ts'
import { type Survey, type SurveyDeps, surveyRepository } from './survey/survey-repository.ts'
import { isOtherLinted } from './survey/survey-other-languages.ts'
import { surveyTests, type TestSurvey } from './survey/survey-tests.ts'
import { type Surveys, takes } from './node-work.ts'

export type RunSurveyDeps = SurveyDeps & {
  blobs: Pick<BlobStore, 'get'>
  readSnapshot(projectId: string, snapshotId: string): Promise<SnapshotView>
}

type Found = { nodes: readonly CodeNode[]; bundles: readonly PinnedBundle[] }

/** Finds out of the repository what the run's bundles need to know where they have work, and nothing else. */
export async function surveysFor(run: Run, found: Found, deps: RunSurveyDeps, signal: AbortSignal): Promise<Surveys> {
  return {
    survey: await surveyOf(run, found, deps, signal),
    comments: await commentsOf(run, found, deps, signal),
    tested: await testSurveyOf(run, found, deps),
    labels: run.request.labels,
  }
}

async function surveyOf(
  run: Run,
  { nodes, bundles }: Found,
  deps: RunSurveyDeps,
  signal: AbortSignal,
): Promise<Survey | undefined> {
  const surveyed = nodes
    .filter(({ path, language }) => language === 'python' || isOtherLinted(path))
    .filter((node) => bundles.some(({ bundle }) => takes(bundle, node) && needsSurvey(bundle, node)))
  if (surveyed.length === 0 || run.snapshotId === null) return undefined
  const snapshot = await deps.readSnapshot(run.projectId, run.snapshotId)
  const workedOn = new Set(surveyed.map(({ path }) => path))
  const input = {
    files: snapshot.files,
    isWorkedOn: (path: string) => workedOn.has(path),
    read: (hash: string) => deps.blobs.get(run.projectId, hash),
    wantsTypes: bundles.some(({ bundle }) => bundle.file.when === 'no_samples'),
  }
  return surveyRepository(input, deps, signal)
}

/** A survey finds nothing of Go but its format, which only matters to who mends it. */
function needsSurvey({ file }: PinnedBundle['bundle'], { path }: CodeNode): boolean {
  return !isGo(path) || file.when === 'lint_faults'
}

/** Surveys the languages whose docstrings are comments. */
async function commentsOf(
  run: Run,
  { nodes, bundles }: Found,
  deps: RunSurveyDeps,
  signal: AbortSignal,
): Promise<CommentSurvey | undefined> {
  const writers = bundles.filter(({ bundle }) => bundle.file.when === 'no_docstring')
  const wanted = nodes.filter(
    (node) => docLanguageOf(node.language) !== undefined && writers.some(({ bundle }) => takes(bundle, node)),
  )
  if (wanted.length === 0 || run.snapshotId === null) return undefined
  const byPath = Map.groupBy(wanted, ({ path }) => path)
  const commented = new Map(
    [...byPath].map(([path, own]) => [path, { language: own[0]?.language ?? '', nodes: own.map(bytesOf) }]),
  )
  const { files } = await deps.readSnapshot(run.projectId, run.snapshotId)
  const read = (hash: string) => deps.blobs.get(run.projectId, hash)
  return surveyDocComments({ files, commented, read }, deps, signal)
}

function bytesOf({ startByte, endByte }: CodeNode) {
  return { startByte, endByte }
}

async function testSurveyOf(run: Run, { nodes, bundles }: Found, deps: RunSurveyDeps): Promise<TestSurvey | undefined> {
  const asking = bundles.filter(({ bundle }) => bundle.file.when === 'untested')
  if (asking.length === 0 || run.snapshotId === null) return undefined
  const taken = nodes.filter((node) => asking.some(({ bundle }) => takes(bundle, node)))
  const { files } = await deps.readSnapshot(run.projectId, run.snapshotId)
  return surveyTests({ nodes: taken, files, read: (hash) => deps.blobs.get(run.projectId, hash) })
}
