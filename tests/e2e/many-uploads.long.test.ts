import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { mapBounded } from '#platform/map-bounded.ts'
import { freePorts } from '#testing/this-machine.ts'
import { openPrograms } from '../program.ts'
import { isReady, type Service, startStores, storeEnv, type Stores } from '../services.ts'
import { testSigningKey } from '#testing/test-signer.ts'

const token = 'a-token-only-for-the-tests'
const uploads = 200
const archiveBytes = 4 * 1024 * 1024
/** Limit of the API process's peak memory, whatever is sent at once: it accepts eight uploads at a time. */
const ceilingMiB = 400

const programs = openPrograms()
let stores: Stores
let api: Service
beforeAll(async () => {
  stores = await startStores()
  const [port] = await freePorts(1)
  const keys = { REMORA_TOKEN: token, REMORA_SIGNING_KEY: testSigningKey }
  const env = { ...storeEnv(stores), ...keys, REMORA_API_PORT: String(port), REMORA_API_HEALTH_PORT: '0' }
  api = { ...programs.start(['services/api/main.ts'], { env }), name: 'api', origin: `http://127.0.0.1:${port}` }
  await isReady(api)
})
afterAll(async () => {
  await programs.end()
  await stores.stop()
})

/** VmHWM of the process: the most memory it ever had, in MiB. Undefined where there is no /proc. */
function mostMemory(): number | undefined {
  if (process.platform !== 'linux') return undefined
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${api.pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib) / 1024)
}

const Answer = z.object({ run_id: z.string().optional(), error_code: z.string().optional() })

/**
 * Sends until it is accepted. An upload refused for now gets LIMIT_002, or its connection is closed while it sends; one that this
 * process, busy with 199 others, does not get to send in time gets HTTP_006. Both mean "again".
 */
async function upload(archive: Uint8Array<ArrayBuffer>): Promise<string> {
  for (;;) {
    const form = new FormData()
    form.set('request', JSON.stringify({ agents: ['lint'] }))
    form.set('archive', new Blob([archive]), 'a.tar.gz')
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${api.origin}/v1/runs`, { method: 'POST', body: form, headers }).catch(() => undefined)
    if (answer === undefined) continue
    const { run_id: runId, error_code: code } = Answer.parse(await answer.json())
    if (runId !== undefined) return runId
    if (code === 'HTTP_006') continue
    expect([answer.status, code]).toEqual([503, 'LIMIT_002'])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }
}

describe(`${uploads} uploads of ${archiveBytes / 1024 / 1024} MiB at once`, () => {
  it(`are all taken in, within ${ceilingMiB} MiB of memory`, async ({ annotate }) => {
    const archive = new Uint8Array(gzipSync(randomBytes(archiveBytes), { level: 0 }))
    const before = mostMemory()
    const ids = await mapBounded(
      Array.from({ length: uploads }, () => archive),
      uploads,
      upload,
    )
    expect(new Set(ids).size).toBe(uploads)
    const most = mostMemory()
    if (most === undefined) return void (await annotate('memory was not looked at: there is no /proc here'))
    await annotate(`VmHWM of the API: ${before} MiB before, ${most} MiB after`)
    expect(most).toBeLessThan(ceilingMiB)
  })
})
