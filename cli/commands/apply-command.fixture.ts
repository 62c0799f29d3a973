import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { Env } from '#platform/env.ts'
import type { TestApi } from '../../services/api/app.fixture.ts'
import { composeRun, playRun } from '../../services/api/played-run.fixture.ts'
import { useServedApi } from './served-api.fixture.ts'

type Content = string | Uint8Array
/** Null: there is no such file on that side. */
type Changes = Readonly<Record<string, { before: Content | null; after: Content | null }>>

const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('')
const ten = Array.from({ length: 10 }, (_none, at) => `line ${at}`)

/** Ten lines, some of them replaced. */
export function tenLines(replaced: Readonly<Record<number, string>> = {}): string {
  return lines(ten.map((line, at) => replaced[at] ?? line))
}

/** Has a served API with runs that propose changes, and `remora apply` in a folder of its own for each test. */
export function useApplying(env: Env) {
  const served = useServedApi()
  const open: { copy?: WorkingCopy } = {}
  beforeEach(async () => {
    open.copy = await openFolder(served, env)
  })
  afterEach(() => open.copy?.remove())
  return {
    proposing: (changes: Changes) => proposing(served.api, changes),
    get copy() {
      if (open.copy === undefined) throw new Error('it is opened when a test begins')
      return open.copy
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

type WorkingCopy = Awaited<ReturnType<typeof openFolder>>

async function openFolder({ remoraWith }: Pick<ReturnType<typeof useServedApi>, 'remoraWith'>, env: Env) {
  const path = await mkdtemp(join(tmpdir(), 'remora-copy-'))
  const given = { cwd: path, env }
  return {
    path,
    apply: (runId: string, ...args: string[]) => remoraWith(given, 'apply', runId, '--of', 'proposed', ...args),
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
