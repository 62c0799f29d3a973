import type { CommitState, ReportedStatus, StatusAnnotation, StatusReport } from '#code-hosts/code-host.ts'
import { type GitHubClient, orHostError } from '#code-hosts/github-client.ts'
import type { HostedRepository } from '#domain/repository-source.ts'

type CheckHost = { client: GitHubClient; repository: HostedRepository; appId: number }
type Check = { id: number; annotations: number }

/** GitHub takes no more in one request. */
const mostAnnotations = 50
const mostSummaryBytes = 65_535

/** Several may be there, after a request that was given up: before the last word the newest gets it, and the others point there. */
export async function reportStatus(report: StatusReport, deps: CheckHost): Promise<ReportedStatus> {
  const { id, state } = report
  const isKnown = id !== undefined && (state === 'queued' || state === 'running')
  const [newest, ...others] = isKnown ? [id] : await findChecks(report, deps)
  for (const otherId of others) await leaveCheck(otherId, deps)
  const check = newest === undefined ? await createCheck(report, deps) : await updateCheck(newest, report, deps)
  await annotate(check, report, deps)
  return { id: check.id }
}

/** The newest comes first. A try whose answer was lost may have made one. */
async function findChecks({ commit, name, key, id: known }: StatusReport, deps: CheckHost): Promise<number[]> {
  const { client, repository, appId } = deps
  const of = { ...ownerOf(repository), ref: commit, check_name: name, app_id: appId }
  const query = { ...of, filter: 'all', per_page: 100 } as const
  const { data } = await orHostError(client.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', query))
  const checks = data.check_runs.filter((check) => check.external_id === key && check.conclusion !== leftConclusion)
  const ids = new Set(checks.map(({ id }) => Number(id)))
  if (known !== undefined) ids.add(known)
  return [...ids].toSorted((left, right) => right - left)
}

async function createCheck(report: StatusReport, { client, repository }: CheckHost): Promise<Check> {
  const { name, commit, key, url } = report
  const about = { name, head_sha: commit, external_id: key, ...(url === null ? {} : { details_url: url }) }
  const query = { ...ownerOf(repository), ...about, ...bodyOf(report) }
  const { data } = await orHostError(client.request('POST /repos/{owner}/{repo}/check-runs', query))
  return { id: Number(data.id), annotations: data.output.annotations_count }
}

async function updateCheck(id: number, report: StatusReport, { client, repository }: CheckHost): Promise<Check> {
  const query = { ...ownerOf(repository), check_run_id: id, ...bodyOf(report) }
  const { data } = await orHostError(client.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', query))
  return { id, annotations: data.output.annotations_count }
}

/** No other check run of ours ends so. */
const leftConclusion = 'skipped'

async function leaveCheck(id: number, { client, repository }: CheckHost): Promise<void> {
  const summary = 'GitHub was asked twice for this check run, since it did not answer. The other one has the results.'
  const output = { title: 'See the other check run', summary }
  const left = { status: 'completed', conclusion: leftConclusion } as const
  const query = { ...ownerOf(repository), check_run_id: id, ...left, output, actions: [] }
  await orHostError(client.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', query))
}

/** GitHub adds annotations to those that are there: the others are sent, 50 at a time. */
async function annotate({ id, annotations: sent }: Check, report: StatusReport, deps: CheckHost): Promise<void> {
  const { title, annotations } = report
  for (let at = sent; at < annotations.length; at += mostAnnotations) {
    const part = annotations.slice(at, at + mostAnnotations).map(wireOf)
    const output = { title, summary: clipped(report.summary), annotations: part }
    const query = { ...ownerOf(deps.repository), check_run_id: id, output }
    await orHostError(deps.client.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', query))
  }
}

function ownerOf({ owner, name: repo }: HostedRepository) {
  return { owner, repo }
}

function bodyOf({ state, title, summary, buttons, startedAt }: StatusReport) {
  const output = { title, summary: clipped(summary) }
  const started_at = new Date(startedAt).toISOString()
  return { ...stateOf(state), started_at, output, actions: buttons.map((button) => ({ ...button })) }
}

function stateOf(state: CommitState) {
  if (state === 'queued') return { status: 'queued' as const }
  if (state === 'running') return { status: 'in_progress' as const }
  return { status: 'completed' as const, conclusion: state }
}

function clipped(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= mostSummaryBytes) return text
  return `${new TextDecoder().decode(bytes.subarray(0, mostSummaryBytes - 100)).replace(/\uFFFD+$/, '')}\n\n… (cut)`
}

function wireOf({ path, startLine, endLine, level, title, message }: StatusAnnotation) {
  return { path, start_line: startLine, end_line: endLine, annotation_level: level, title, message }
}
