import type { Installations } from '#code-hosts/installations.ts'
import { AppError } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import { isRecord, parseJson } from '#domain/json.ts'
import { fullNameOf, type RepositorySource } from '#domain/repository-source.ts'
import { NamedRepository } from '#schemas/run-request-schema.ts'
import { readBody } from '#platform/read-body.ts'
import { maxRequestBytes } from './run-form.ts'

/** A submission whose code is fetched, instead of an archive. */
export type RepositoryRun = {
  /** Not yet checked. */
  request: unknown
  repository: RepositorySource
}

export type RepositoryRunDeps = {
  installations: Pick<Installations, 'findRepository'>
  /** Names the code host: `github.com`. */
  host: string
  /** Is false without a publisher: nobody may read a repository then. */
  hasPublisher: boolean
}

const noPublisher =
  'body.repository: this service fetches no code: its operator may start a publisher for it (REMORA_PUBLISHER_URL)'
const ofArchives = 'body.not_sent: is for archives alone'

/** INTAKE_008 for a body that is no submission, or where no code is fetched; HOST_002 for a repository that the project was not given. */
export async function readRepositoryRun(
  incoming: Request,
  projectId: ProjectId,
  { installations, host, hasPublisher }: RepositoryRunDeps,
): Promise<RepositoryRun> {
  const body = parseJson((await readBody(incoming, { maxBytes: maxRequestBytes })).toString())
  if (!isRecord(body)) throw new AppError('INTAKE_008', 'body: not a JSON object')
  const { repository, ...request } = body
  if ('not_sent' in request) throw new AppError('INTAKE_008', ofArchives)
  const named = NamedRepository.safeParse(repository)
  if (!named.success) {
    const faults = named.error.issues.map(
      ({ path, message }) => `${['body.repository', ...path].join('.')}: ${message}`,
    )
    throw new AppError('INTAKE_008', faults.join('; '))
  }
  if (!hasPublisher) throw new AppError('INTAKE_008', noPublisher)
  const wanted = repositoryAt(named.data.url, host)
  const installed = await installations.findRepository(projectId, wanted)
  if (installed === undefined) {
    const advice = 'install the GitHub App on it, for this project'
    throw new AppError('HOST_002', `This project has no repository "${fullNameOf(wanted)}": ${advice}.`)
  }
  const { installationId, id, owner, name } = installed
  const source = { installationId, repository: { id, owner, name }, ref: named.data.ref, isFork: false }
  return { request, repository: { host: 'github', ...source } }
}

/** The address may have a password in it: it is not repeated. */
function repositoryAt(url: string, host: string): { owner: string; name: string } {
  const address = `https://${host}/`
  const path = url.toLowerCase().startsWith(address) ? url.slice(address.length) : url
  const [, owner, name] = /^([\w.-]{1,100})\/([\w.-]{1,100}?)(?:\.git)?\/?$/.exec(path) ?? []
  if (owner !== undefined && name !== undefined) return { owner, name }
  throw new AppError('INTAKE_008', `body.repository.url: must be OWNER/NAME or ${address}OWNER/NAME`)
}
