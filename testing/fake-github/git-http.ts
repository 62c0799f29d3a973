import type { Answer } from './answers.ts'
import type { ApiRequest } from './answer-request.ts'
import { runGit } from './run-git.ts'

/** Answers `git clone` and `git push` over HTTP by the system's own `git http-backend`. */
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
