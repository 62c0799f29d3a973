import type { CommitId, HostedRepository } from '#domain/repository-source.ts'
import { type GitHubClient, orHostError } from '#code-hosts/github-client.ts'

export type Annotation = {
  path: string
  startLine: number
  endLine: number
  level: 'notice' | 'warning' | 'failure'
  title: string
  message: string
}

/** GitHub takes no more in one request. */
const mostAnnotations = 50
/** GitHub's limit of the summary and the text, in bytes. */
export const mostOutputBytes = 65_535

export type CheckOutput = { title: string; summary: string; text?: string }
export type CheckAction = { identifier: string; label: string; description: string }
export type CheckState = {
  output: CheckOutput
  actions: readonly CheckAction[]
} & (
  | { status: 'queued' | 'in_progress' }
  | { status: 'completed'; conclusion: 'success' | 'neutral' | 'cancelled' | 'failure' }
)

export type Check = {
  name: string
  headSha: CommitId
  externalId: string
  detailsUrl: string | undefined
  startedAt: string
}

export function openCheckRuns(client: GitHubClient, repository: HostedRepository) {
  const of = { owner: repository.owner, repo: repository.name }
  return {
    /** The newest check run of the app for this run, also one that was made by a try whose answer was lost. */
    async find({ headSha, name, externalId }: Pick<Check, 'headSha' | 'name' | 'externalId'>, appId: number) {
      const asked = { ...of, ref: headSha, check_name: name, app_id: appId, filter: 'all' as const, per_page: 100 }
      const { data } = await orHostError(client.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', asked))
      const found = data.check_runs.filter((one) => one.external_id === externalId)
      return found.map(({ id }) => Number(id)).toSorted((one, other) => other - one)[0]
    },
    async create({ name, headSha, externalId, detailsUrl, startedAt }: Check, state: CheckState): Promise<number> {
      const about = { name, head_sha: headSha, external_id: externalId, started_at: startedAt }
      const asked = {
        ...of,
        ...about,
        ...(detailsUrl === undefined ? {} : { details_url: detailsUrl }),
        ...bodyOf(state),
      }
      const { data } = await orHostError(client.request('POST /repos/{owner}/{repo}/check-runs', asked))
      return Number(data.id)
    },
    async update(id: number, state: CheckState): Promise<void> {
      const asked = { ...of, check_run_id: id, ...bodyOf(state) }
      await orHostError(client.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', asked))
    },
    /** GitHub adds annotations to those that are there: asks how many there are, and sends the others, 50 at a time. */
    async annotate(id: number, { title, summary }: CheckOutput, annotations: readonly Annotation[]): Promise<void> {
      const one = { ...of, check_run_id: id }
      const { data } = await orHostError(client.request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}', one))
      for (let at = data.output.annotations_count; at < annotations.length; at += mostAnnotations) {
        const part = annotations.slice(at, at + mostAnnotations).map(wireOf)
        const asked = { ...one, output: { title, summary, annotations: part } }
        await orHostError(client.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', asked))
      }
    },
  }
}

function bodyOf({ output, actions, ...state }: CheckState) {
  const { title, summary, text } = output
  const written = { title, summary, ...(text === undefined ? {} : { text }) }
  return { ...state, output: written, actions: actions.map((action) => ({ ...action })) }
}

function wireOf({ path, startLine, endLine, level, title, message }: Annotation) {
  return { path, start_line: startLine, end_line: endLine, annotation_level: level, title, message }
}
