import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { lacks } from '#testing/this-machine.ts'
import { remoraHere } from '../remora-here.ts'
import { lastDocument } from '../e2e/program.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../e2e/source-folder.ts'
import { type OneProcess, startInOneProcess } from './one-process.ts'

const folders: SourceFolder[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await folder.remove()
})

let services: OneProcess
/** It answers with words alone. */
let talker: Server
beforeAll(async () => {
  talker = createServer((request, response) => {
    const message = { role: 'assistant', content: 'What a nice function.' }
    const reply = { id: 'r', model: 'talker', choices: [{ index: 0, message, finish_reason: 'stop' }] }
    const body = request.url?.endsWith('/models') ? { data: [{ id: 'talker', object: 'model' }] } : reply
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(talker, 'listening')
  services = await startInOneProcess({ env: { REMORA_MODEL_URLS: 'rehearsal' } })
})
afterAll(async () => {
  await services.close()
  await closeServer(talker)
})

async function folderOf(files: Readonly<Record<string, string>>): Promise<SourceFolder> {
  const folder = await sourceFolder(files)
  folders.push(folder)
  return folder
}

const Failure = z.object({ error: z.object({ error_code: z.string(), message: z.string() }) })
const Result = z.object({
  result: z.looseObject({
    status: z.string(),
    error_code: z.string().nullable(),
    patch: z.looseObject({ path: z.string() }).nullable(),
  }),
})

describe('a call that cannot work', () => {
  it('names the agents there are when one is unknown, before anything starts', async () => {
    const folder = await folderOf(smallSource)
    const run = await remoraHere(folder, ['run', '.', '--agents', 'lint,poet', '--json'])
    expect(run.code).toBe(2)
    const { error } = Failure.parse(lastDocument(run.out))
    expect(error.error_code).toBe('INTAKE_006')
    expect(error.message).toMatch(/poet.*docstring, harness, lint, review/)
    expect(await readdir(folder.path)).toEqual(Object.keys(smallSource).map((file) => file.split('/')[0]))
  })

  it('is wrong usage when it names no agents, and lists the known ones', async () => {
    const folder = await folderOf(smallSource)
    const run = await remoraHere(folder, ['run', '.'])
    expect(run.code).toBe(2)
    expect(run.err).toContain('docstring, harness, lint, review')
    expect(existsSync(join(folder.path, '.remora'))).toBe(false)
  })

  it('reports that the patch cannot be written, before anything starts', async () => {
    const folder = await folderOf(smallSource)
    for (const out of ['no/such/folder.patch', 'shop']) {
      const run = await remoraHere(folder, ['run', '.', '--agents', 'lint', '--out', out])
      expect(run.code).toBe(1)
      expect(run.err).toMatch(/^remora: CONFIG_003 .*(?:no\/such\/folder\.patch|shop)/m)
    }
    expect(existsSync(join(folder.path, '.remora'))).toBe(false)
  })

  it('reports that the path does not exist', async () => {
    const folder = await folderOf(smallSource)
    const run = await remoraHere(folder, ['run', 'nowhere', '--agents', 'lint'])
    expect(run.code).toBe(2)
    expect(run.err).toBe('remora: INTAKE_001 there is no such file or folder: nowhere\n')
    expect(existsSync(join(folder.path, '.remora'))).toBe(false)
  })

  it('reports that an empty folder has nothing to do', async () => {
    const folder = await folderOf({})
    const run = await remoraHere(folder, ['run', '.', '--agents', 'lint', '--json'])
    expect(run.code).toBe(1)
    expect(Failure.parse(lastDocument(run.out)).error.error_code).toBe('INTAKE_007')
    expect(await readdir(folder.path)).toEqual([])
  })

  it('reports in one line that its data cannot be stored, and how to store them elsewhere', async () => {
    const folder = await folderOf(smallSource)
    const run = ['run', folder.path, '--agents', 'lint', '--out', join(folder.path, 'x.patch')]
    for (const [args, env] of [
      [run, {}],
      [['runs'], {}],
      [run, { REMORA_DATA_DIR: '/proc/remora/data' }],
    ] as const) {
      const answer = await remoraHere({ path: '/proc' }, args, env)
      expect(answer.code).toBe(1)
      expect(answer.err).toMatch(/^remora: CONFIG_003 [^\n]*\/proc\/[^\n]*REMORA_DATA_DIR\n$/)
    }
  })

  it('names the variable that names no model server, before anything starts', async () => {
    const folder = await folderOf(smallSource)
    const run = await remoraHere(folder, ['run', '.', '--agents', 'lint'], { REMORA_MODEL_URLS: 'foo' })
    expect(run.code).toBe(1)
    expect(run.err).toMatch(/^remora: CONFIG_003 [^\n]*REMORA_MODEL_URLS[^\n]*\n$/)
    expect(existsSync(join(folder.path, '.remora'))).toBe(false)
  })

  it('fails the run when no node matches', async () => {
    const folder = await folderOf(smallSource)
    const args = ['run', '.', '--agents', 'lint', '--paths', 'nowhere/**', '--out', 'x.patch', '--json']
    const run = await services.remora(folder, args)
    expect(run.code).toBe(1)
    expect(run.out).toMatch(/"event":"run\.failed".*"error_code":"INTAKE_007"/)
    expect(Result.parse(lastDocument(run.out)).result).toMatchObject({ status: 'failed', error_code: 'INTAKE_007' })
    expect(existsSync(join(folder.path, 'x.patch'))).toBe(false)
  })
})

describe('a model that only talks', () => {
  it('fails the command when every operation failed', async () => {
    const folder = await folderOf(smallSource)
    const workerEnv = { REMORA_MODEL_URLS: `http://127.0.0.1:${boundPort(talker)}/v1` }
    const talking = await startInOneProcess({ workerEnv })
    onTestFinished(talking.close)
    const { code, out } = await talking.remora(folder, ['run', '.', '--agents', 'docstring', '--json'])
    const { result } = Result.parse(lastDocument(out))
    expect({ code, status: result.status, patch: result.patch }).toEqual({ code: 1, status: 'failed', patch: null })
  })
})

describe('sources with faults', () => {
  it.skipIf(lacks('git'))('are worked on as far as they parse', async () => {
    const broken = 'def fine():\n    return f"fine"\n\n\ndef torn(:\n    return 1\n'
    const folder = await folderOf({ ...smallSource, 'shop/broken.py': broken })
    const run = await services.remora(folder, ['run', '.', '--agents', 'lint,docstring', '--out', 'x.patch', '--json'])
    expect(run).toMatchObject({ code: 0 })
    const { result } = Result.parse(lastDocument(run.out))
    expect(result.status).toBe('completed')
    expect(result.patch).not.toBeNull()
    await folder.apply(await folder.read('x.patch'))
    expect(await folder.read('shop/stock.py')).toContain('if name not in self.items')
    expect(await folder.read('shop/broken.py')).toContain('def torn(:\n    return 1\n')
    expect(await folder.read('shop/broken.py')).toMatch(/def fine\(\):\n {4}"""/)
  })
})
