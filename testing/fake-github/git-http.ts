import type { Answer } from './answers.ts'
import type { ApiRequest } from './answer-request.ts'
import { allows, granted, reaches } from './authenticate.ts'
import { runGit } from './run-git.ts'
import { type HostedRepository, type Level, type World, appBot, findRepository, levelOf } from './world.ts'

/**
 * `git clone` and `git push` over HTTP, by the system's own `git http-backend`. An installation token is the password of
 * `x-access-token`; of people the login is believed. Undefined: the path is none of git's.
 */
export function serveGit(
  { world, folder }: { world: World; folder: string },
  request: ApiRequest,
): Promise<Answer> | undefined {
  const match = /^\/([^/]+)\/([^/]+)\.git\/(?:info\/refs|git-(?:upload|receive)-pack)$/.exec(request.path)
  if (match === null) return undefined
  const [, owner = '', name = ''] = match
  const push = `${request.path}?${request.query.toString()}`.includes('git-receive-pack')
  const repository = findRepository(world, owner, name)
  const visitor = visitorOf(world, request.headers['authorization'], repository)
  const needed = push ? 'write' : 'read'
  if (repository !== undefined && allows(visitor.level, needed)) return runBackend(folder, request, visitor.login)
  const challenge = { 'www-authenticate': 'Basic realm="GitHub"' }
  return Promise.resolve(visitor.login === '' ? { status: 401, headers: challenge } : { status: push ? 403 : 404 })
}

type Visitor = { login: string; level: Level }

function visitorOf(world: World, header: string | undefined, repository: HostedRepository | undefined): Visitor {
  const level = repository === undefined || repository.private ? 'none' : 'read'
  if (header === undefined || repository === undefined) return { login: '', level }
  const [login = '', password = ''] = Buffer.from(header.replace(/^basic /i, ''), 'base64')
    .toString()
    .split(':')
  if (login !== 'x-access-token') return { login, level: levelOf(repository, login) }
  const token = world.tokens.get(password)
  const valid = token !== undefined && token.expiresAt > world.now() && reaches(token, repository)
  const suspended = token?.installation.suspendedAt !== undefined
  return { login: appBot(world).login, level: valid && !suspended ? granted(token, 'contents') : 'none' }
}

export async function runBackend(folder: string, request: ApiRequest, login: string): Promise<Answer> {
  const { headers } = request
  const variables = {
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: request.path,
    QUERY_STRING: request.query.toString(),
    REQUEST_METHOD: request.method,
    CONTENT_TYPE: headers['content-type'] ?? '',
    CONTENT_LENGTH: String(request.body.length),
    HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
    GIT_PROTOCOL: headers['git-protocol'] ?? '',
    REMOTE_ADDR: '127.0.0.1',
    FAKE_GITHUB_PUSHER: login,
    ...(login === '' ? {} : { REMOTE_USER: login }),
  }
  const { stdout } = await runGit(folder, ['http-backend'], { input: request.body, variables })
  const end = stdout.indexOf('\r\n\r\n')
  const fields = stdout
    .subarray(0, end)
    .toString()
    .split('\r\n')
    .map((line) => line.split(': '))
  const answered = Object.fromEntries(fields.map(([name = '', value = '']) => [name.toLowerCase(), value]))
  const { status = '200', ...rest } = answered
  return { status: Number.parseInt(status, 10), bytes: stdout.subarray(end + 4), headers: rest }
}
