import type { CommitState, StatusAnnotation, StatusReport } from '#code-hosts/code-host.ts'
import { countFunnel, countMerged } from '#change-sets/funnel.ts'
import type { CodeFinding } from '#domain/code-finding.ts'
import type { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { modelKindOf } from '#domain/model-kind.ts'
import type { Publication } from '#domain/publication.ts'
import type { CommitId } from '#domain/repository-source.ts'
import { begunAt, type Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { changedFiles, type Composition } from '#store/objects/composition.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import type { GitHubHost } from '../github/github-host.ts'
import { type CheckText, checkText, type ToldRun, wrongSettingsText } from './check-text.ts'
import type { Publishing } from './run-host.ts'

export type CheckDeps = {
  ledger: Pick<Ledger, 'getRun' | 'listReported' | 'readDecisions'>
  records: {
    readComposition(run: Run): Promise<Composition | null>
    readFindings(projectId: string, recordHash: string): Promise<readonly CodeFinding[]>
  }
  /** The address of the API for people; undefined: nothing is linked. */
  publicUrl: string | undefined
  /** Is true for a fake host, where changes of the rehearsal model may be published, too. */
  isFakeHost: boolean
}

const checkName = 'Remora'
/** GitHub shows no more of them well. */
const mostAnnotations = 500
const readsAtOnce = 8
/** GitHub shows progress; more often would only cost requests. */
export const progressMs = 10_000

/** Tells how far a run is. It is told once in ten seconds at most, and only what is new. */
export async function tellProgress(run: Run, telling: Publishing, deps: CheckDeps): Promise<void> {
  if (!hasCheck(run)) return
  const { check } = telling.publication
  const text = checkText(bareTold(run, telling.publication, deps))
  // People may have the run looked at more often.
  if (check !== null && check.status === statusOf(text.state) && Date.now() - check.at < progressMs) return
  await putCheck(run, { ...text, annotations: [] }, telling, deps)
}

/** Tells how a run has ended, with what it has found as annotations. */
export async function endCheck(
  run: Run,
  { held, ...telling }: Publishing & { held: string | undefined },
  deps: CheckDeps,
): Promise<void> {
  if (!hasCheck(run)) return
  const { publication } = telling
  const findings = await findingsOf(run, deps)
  const composition = await deps.records.readComposition(run)
  const { byChangeSet } = await deps.ledger.readDecisions(run.runId)
  const { made = [] } = composition ?? {}
  const verdictOn = (id: string) => byChangeSet.get(id)?.verdict ?? 'pending'
  const shown: ToldRun = {
    ...bareTold(run, publication, deps),
    funnel: countFunnel(made, verdictOn),
    merged: countMerged(made, { publication }),
    gate: composition?.gate,
    files: changedFiles(composition ?? { files: [] }).map(({ path, baseHash }) => ({ path, isNew: baseHash === null })),
    filesUrl: run.commit === null ? undefined : `${await telling.host.webUrl()}/blob/${run.commit}`,
    leftOut: composition?.conflicts ?? [],
    findings: findings.length,
    held,
  }
  await putCheck(run, { ...checkText(shown), annotations: findings }, telling, deps)
}

/** Says at a commit that no run is started. Again it changes nothing, and the check run of a later run takes its place. */
export async function tellWrongSettings(
  { commit, ...wrong }: { commit: CommitId; defaultBranch: string; fault: AppError },
  host: Pick<GitHubHost, 'reportStatus'>,
): Promise<void> {
  const key = `settings-${sha256(`${commit} ${wrong.fault.message}`).slice(0, 16)}`
  const of = { commit, name: checkName, key, url: null, startedAt: Date.now() }
  await host.reportStatus({ ...of, ...wrongSettingsText(wrong), annotations: [] })
}

/** A run that somebody submitted has none: it is of nobody's push. */
function hasCheck({ request: { repository } }: Run): boolean {
  return repository?.branch !== undefined || repository?.pullRequest !== undefined
}

function bareTold(run: Run, publication: Publication, { publicUrl, isFakeHost }: CheckDeps): ToldRun {
  const isRehearsal = modelKindOf(run.request.labels) === 'rehearsal'
  const isFork = run.request.repository?.isFork === true
  return {
    run,
    publication,
    funnel: [],
    merged: new Map(),
    gate: undefined,
    files: [],
    filesUrl: undefined,
    leftOut: [],
    findings: 0,
    held: undefined,
    runUrl: publicUrl && `${publicUrl}/v1/runs/${run.runId}`,
    isRehearsal,
    isPublishable: !isFork && (!isRehearsal || isFakeHost),
  }
}

/** Says it where it says something else than what was said last. */
async function putCheck(
  run: Run,
  text: CheckText & Pick<StatusReport, 'annotations'>,
  { publication, note, host }: Publishing,
  deps: CheckDeps,
): Promise<void> {
  const commit = run.commit ?? host.source.commit
  if (commit === undefined) return
  const before = publication.check
  const hash = sha256(JSON.stringify(text))
  if (before?.said === hash) return
  const url = bareTold(run, publication, deps).runUrl ?? null
  const known = before === null ? {} : { id: before.id }
  const of = { commit, name: checkName, key: run.runId, url, startedAt: begunAt(run), ...known }
  const { id } = await host.reportStatus({ ...of, ...text })
  await note({ check: { id, status: statusOf(text.state), said: hash, at: Date.now() } })
}

function statusOf(state: CommitState): NonNullable<Publication['check']>['status'] {
  if (state === 'running') return 'in_progress'
  return state === 'queued' ? 'queued' : 'completed'
}

const levels = { error: 'failure', warning: 'warning', note: 'notice' } as const

async function findingsOf(run: Run, { ledger, records }: CheckDeps): Promise<StatusAnnotation[]> {
  const annotations: StatusAnnotation[] = []
  for (let cursor: string | null = '0'; cursor !== null && annotations.length < mostAnnotations;) {
    const of = { cursor, limit: 100 }
    const page: Awaited<ReturnType<typeof ledger.listReported>> = await ledger.listReported(run.runId, of)
    const lists = await mapBounded(page.operations, readsAtOnce, async ({ bundle, outcome }) => {
      const all = outcome?.recordHash === undefined ? [] : await records.readFindings(run.projectId, outcome.recordHash)
      return all.map(({ path, line, endLine, severity, claim, rule }) => ({
        path,
        startLine: line,
        endLine,
        level: levels[severity],
        title: rule === null ? bundle : `${bundle}: ${rule}`,
        message: claim,
      }))
    })
    annotations.push(...lists.flat())
    cursor = page.next
  }
  return annotations.slice(0, mostAnnotations)
}
