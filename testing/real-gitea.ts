import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { TestGitea } from './fake-gitea.ts'
import { freePorts } from './this-machine.ts'
import { until } from './until.ts'

const execute = promisify(execFile)

/** Starts a Gitea for one test file: the program `gitea`, built in the folder of its sources, with the tags `sqlite` and `sqlite_unlock_notify`. */
export async function startRealGitea(program: string): Promise<TestGitea> {
  const folder = await mkdtemp(join(tmpdir(), 'remora-gitea-'))
  const [port = 0] = await freePorts(1)
  const origin = `http://127.0.0.1:${port}`
  const config = join(folder, 'app.ini')
  await mkdir(join(folder, 'repos'))
  await writeFile(config, settingsOf({ folder, port, sources: dirname(program) }))
  const env = { PATH: process.env['PATH'], HOME: folder, GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true' }
  const call = (...args: string[]) => execute(program, [...args, '--config', config], { env, cwd: folder })
  await call('migrate')
  const make = async (username: string, ...options: string[]) => {
    const person = [
      '--username',
      username,
      '--password',
      `${username}-0123456789`,
      '--email',
      `${username}@example.org`,
    ]
    await call('admin', 'user', 'create', ...person, ...options, '--must-change-password=false')
    const asked = ['--username', username, '--token-name', 'test', '--scopes', 'write:repository,write:user', '--raw']
    const { stdout } = await call('admin', 'user', 'generate-access-token', ...asked)
    return { username, password: /^[0-9a-f]{40}$/m.exec(stdout)?.[0] ?? '' }
  }
  const login = await make('ada', '--admin')
  const reader = await make('eve')
  const server = spawn(program, ['web', '--config', config], { env, cwd: folder, stdio: 'ignore' })
  const ended = once(server, 'exit')
  const authorization = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`
  const headers = { authorization, 'content-type': 'application/json' }
  const answers = () =>
    fetch(`${origin}/api/v1/version`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until(answers, { withinMs: 60_000 })
  const body = JSON.stringify({ name: 'shop', default_branch: 'main' })
  const made = await fetch(`${origin}/api/v1/user/repos`, { method: 'POST', headers, body })
  if (!made.ok) throw new Error(`Gitea makes no repository: ${made.status} ${await made.text()}`)
  const bareUrl = `${origin}/ada/shop.git`
  return {
    url: bareUrl.replace('//', `//${login.username}:${login.password}@`),
    bareUrl,
    login,
    reader,
    async close() {
      server.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

type Place = { folder: string; port: number; sources: string }

function settingsOf({ folder, port, sources }: Place): string {
  return `
RUN_MODE = prod
WORK_PATH = ${folder}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = http://127.0.0.1:${port}/
STATIC_ROOT_PATH = ${sources}
OFFLINE_MODE = true
DISABLE_SSH = true
[database]
DB_TYPE = sqlite3
PATH = ${join(folder, 'gitea.db')}
[security]
INSTALL_LOCK = true
[repository]
ROOT = ${join(folder, 'repos')}
[indexer]
ISSUE_INDEXER_TYPE = db
[log]
LEVEL = Error
`
}
