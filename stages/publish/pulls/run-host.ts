import type { Installations } from '#code-hosts/installations.ts'
import { AppError } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import type { Publication } from '#domain/publication.ts'
import { fullNameOf, type RepositorySource } from '#domain/repository-source.ts'
import type { Run } from '#domain/run.ts'
import type { RepositorySettings } from '#settings/github-settings.ts'
import { maxSettingsBytes, repositorySettingsOf } from '../repository-settings.ts'
import type { GitHubApp } from '#code-hosts/github-client.ts'
import { type GitHubHost, openGitHubHost, type OwnApp } from '../github/github-host.ts'
import { openReads, type RepositoryReads } from '../github/repository-reads.ts'

export type RunHostDeps = OwnApp & {
  app: Pick<GitHubApp, 'clientFor'>
  installations: Pick<Installations, 'findRepository'>
  operator: RepositorySettings
}

/** The repository of a run at its host, with the right to write to it. */
export type RunHost = GitHubHost & {
  source: RepositorySource
  reads: Pick<RepositoryReads, 'branchHead' | 'findPull' | 'pullEvents'>
  /** The same with the right to change what the host runs, for a repository that allows it: HOST_003 where the App may not. */
  withWorkflows(): Promise<GitHubHost>
  /** Returns the settings that the default branch has now. */
  settings(): Promise<RepositorySettings>
}

/** Keeps what was done so far, with its events. A change that depends on what is there is a function of it. */
export type Note = (
  change: Partial<Publication> | ((known: Publication) => Partial<Publication>),
  events?: readonly NewEvent[],
) => Promise<Publication>

export type Publishing = { publication: Publication; note: Note; host: RunHost }

/** HOST_002 when the project has no such repository any more. Nothing is written once `signal` is aborted. */
export async function openRunHost(
  run: Run,
  { app, installations, operator, ...own }: RunHostDeps,
  signal?: AbortSignal,
): Promise<RunHost> {
  const source = run.request.repository
  if (source === undefined) throw new AppError('HOST_002', `run ${run.runId} has no repository of a code host`)
  const { installationId } = source
  const installed = await installations.findRepository(run.projectId, source.repository)
  const repository = installed ?? source.repository
  const name = fullNameOf(repository)
  if (installed?.installationId !== installationId)
    throw new AppError('HOST_002', `the app is not installed for ${name} any more, or it belongs to another project`)
  const of = { installationId, repository }
  const rights = { contents: 'write', pull_requests: 'write', checks: 'write' } as const
  const client = await app.clientFor(of, rights, signal)
  const reads = openReads(client, repository)
  return {
    ...openGitHubHost(client, repository, own),
    source,
    reads,
    async withWorkflows() {
      return openGitHubHost(await app.clientFor(of, { ...rights, workflows: 'write' }, signal), repository, own)
    },
    async settings() {
      const text = await reads.readText('remora.yaml', await reads.defaultBranch(), maxSettingsBytes)
      return repositorySettingsOf(text, { name, operator }).settings
    },
  }
}
