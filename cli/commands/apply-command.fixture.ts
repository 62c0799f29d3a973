import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { openTestApi, type TestApi } from '../../services/api/app.fixture.ts'
import { serveApp } from '../../services/api/http/serve-app.ts'
import { composeRun, playRun } from '../../services/api/played-run.fixture.ts'
import { readCliConfig } from '../cli-config.ts'
import { buildProgram } from '../program.ts'

type Content = string | Uint8Array
/** Null: there is no such file on that side. */
type Changes = Readonly<Record<string, { before: Content | null; after: Content | null }>>

type Answer = { code: number; out: string; err: string }

const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('')
const ten = Array.from({ length: 10 }, (_none, at) => `line ${at}`)

/** Ten lines, some of them replaced. */
export function tenLines(replaced: Readonly<Record<number, string>> = {}): string {
  return lines(ten.map((line, at) => replaced[at] ?? line))
}

/** The API with runs that propose changes, and `remora apply` in folders of their own. */
export async function openApplying(searchPath: string | undefined) {
  const api = await openTestApi(await testRedis(), await testObjects())
  const served = await serveApp(api.app, { host: '127.0.0.1', port: 0, graceMs: 1_000 })
  return {
    proposing: (changes: Changes) => proposing(api, changes),
    openFolder: () => openFolder({ PATH: searchPath, REMORA_API_URL: served.url, REMORA_TOKEN: api.token }),
    async close() {
      await served.close()
      await api.close()
    },
  }
}

async function proposing(api: TestApi, changes: Changes): Promise<string> {
  const tree: Record<string, { content: Content; executable: boolean }> = {}
  const put = async (content: Content | null) =>
    content === null ? null : api.blobs.put(api.project, Buffer.from(content))
  const files = []
  for (const [path, { before, after }] of Object.entries(changes)) {
    if (before !== null) tree[path] = { content: before, executable: false }
    files.push({ path, baseHash: await put(before), resultHash: await put(after), changeSetIds: [], evidence: [] })
  }
  const runId = await playRun(api, [], { tree })
  await composeRun(api, runId, { files })
  return runId
}

export type WorkingCopy = Awaited<ReturnType<typeof openFolder>>

async function openFolder(env: Readonly<Record<string, string | undefined>>) {
  const path = await mkdtemp(join(tmpdir(), 'remora-copy-'))
  return {
    path,
    /** A command that throws has printed nothing on stdout. */
    async apply(runId: string, ...args: string[]): Promise<Answer> {
      const answer: Answer = { code: 0, out: '', err: '' }
      const io = {
        out: (text: string) => void (answer.out += text),
        err: (text: string) => void (answer.err += text),
        exit: (code: number) => void (answer.code = code),
      }
      const config = readCliConfig(env)
      const signal = new AbortController().signal
      const context = { io, config, signal, terminal: undefined, colored: false, cwd: path }
      await buildProgram(context).parseAsync(['apply', runId, '--of', 'proposed', ...args], { from: 'user' })
      return answer
    },
    async write(files: Readonly<Record<string, Content>>): Promise<void> {
      for (const [name, content] of Object.entries(files)) {
        await mkdir(dirname(join(path, name)), { recursive: true })
        await writeFile(join(path, name), content)
      }
    },
    read: (name: string) => readFile(join(path, name), 'utf8'),
    /** Every file but the history, by path, as bytes. */
    async everything(): Promise<Record<string, string>> {
      const all: Record<string, string> = {}
      for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
        const place = join(entry.parentPath, entry.name)
        if (place.includes('/.git/')) continue
        if (entry.isFile()) all[place] = (await readFile(place)).toString('latin1')
        else all[place] = entry.isDirectory() ? 'folder' : 'other'
      }
      return all
    },
    remove: () => rm(path, { recursive: true, force: true }),
  }
}
