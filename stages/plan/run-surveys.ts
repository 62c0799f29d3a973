import type { CodeNode } from '#domain/code-node.ts'
import { isGo } from '#domain/path-rules.ts'
import type { Run } from '#domain/run.ts'
import type { BlobStore } from '#store/objects/blob-store.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import type { PinnedBundle } from './pin-bundles.ts'
import { type Survey, type SurveyDeps, surveyRepository } from './survey/survey-repository.ts'
import { isOtherLinted } from './survey/survey-other-languages.ts'
import { surveyRules, takes } from './node-work.ts'
import type { SurveyedRepository, Surveys } from './survey-rule.ts'

export type RunSurveyDeps = SurveyDeps & {
  blobs: Pick<BlobStore, 'get'>
  readSnapshot(projectId: string, snapshotId: string): Promise<SnapshotView>
}

type Found = { nodes: readonly CodeNode[]; bundles: readonly PinnedBundle[] }

/** Finds out of the repository what the run's bundles need to know where they have work, and nothing else. */
export async function surveysFor(run: Run, found: Found, deps: RunSurveyDeps, signal: AbortSignal): Promise<Surveys> {
  return {
    survey: await surveyOf(run, found, deps, signal),
    repository: repositoryOf(run, found, deps, signal),
    labels: run.request.labels,
  }
}

function repositoryOf(
  { projectId, snapshotId }: Run,
  { nodes }: Found,
  { blobs, surveys, readSnapshot }: RunSurveyDeps,
  signal: AbortSignal,
): SurveyedRepository | undefined {
  if (snapshotId === null) return undefined
  const files = async () => (await readSnapshot(projectId, snapshotId)).files
  return { nodes, files, read: (hash) => blobs.get(projectId, hash), surveys, signal }
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
    wantsTypes: bundles.some(({ bundle }) => surveyRules[bundle.file.when].surveys === 'types'),
  }
  return surveyRepository(input, deps, signal)
}

/** A survey finds nothing of Go but its format, which only matters to who mends it. */
function needsSurvey({ file }: PinnedBundle['bundle'], { path }: CodeNode): boolean {
  return !isGo(path) || surveyRules[file.when].surveys === 'format'
}
