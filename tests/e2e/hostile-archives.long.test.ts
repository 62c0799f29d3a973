import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawTar } from '#stages/snapshot/raw-tar.fixture.ts'
import { rawZip } from '#stages/snapshot/raw-zip.fixture.ts'
import { peakMemory } from '../living-processes.ts'
import { openPrograms } from '../program.ts'
import { startServices, startStores, type Services, type Stores } from '../services.ts'

const mib = 1024 * 1024
const good = { name: 'good.py', content: 'x = 1\n' }

/** A tar of a gigabyte of zeros in a megabyte of gzip, in one member per 64 MiB. */
function gigabyteOfZeros(): Buffer {
  const head = gzipSync(rawTar([{ name: 'zeros', size: 1024 * mib }], { end: false }))
  const part = gzipSync(Buffer.alloc(64 * mib))
  return Buffer.concat([head, ...Array.from({ length: 16 }, () => part)])
}

function sharedContent(): Buffer {
  const kernel = { name: '0', content: Buffer.alloc(9 * mib) }
  const others = Array.from({ length: 500 }, (_value, at) => ({
    name: String(at + 1),
    unplaced: true,
    central: { at: 0 },
  }))
  return rawZip([kernel, ...others.map((other) => ({ ...kernel, ...other }))])
}

const behindLink = [
  { name: 'l', type: '2', target: '/etc' },
  { name: 'l/passwd', content: 'x' },
]

const hostile: [string, string, Buffer][] = [
  ['a gzip bomb', 'INTAKE_003', gigabyteOfZeros()],
  ['a zip bomb', 'INTAKE_003', rawZip([{ name: 'zeros', content: Buffer.alloc(60 * mib) }])],
  ['files that share one content', 'INTAKE_003', sharedContent()],
  ['a zip that leads out', 'INTAKE_002', rawZip([{ ...good, name: '../../etc/cron.d/x' }])],
  ['a file behind a link to a folder outside', 'INTAKE_002', gzipSync(rawTar(behindLink))],
  ['an encrypted zip', 'INTAKE_001', rawZip([{ ...good, central: { flags: 1 } }])],
  ['a zip cut short', 'INTAKE_001', rawZip([good]).subarray(0, 70)],
  ['a tar cut short', 'INTAKE_001', rawTar([{ ...good, size: 5000 }]).subarray(0, 2048)],
]

describe('hostile archives, sent to the services', () => {
  const programs = openPrograms()
  const open: { stores?: Stores; scratch?: string } = {}
  let services: Services

  beforeAll(async () => {
    const scratch = (open.scratch = await mkdtemp(join(tmpdir(), 'remora-scratch-')))
    const stores = (open.stores = await startStores())
    services = await startServices(programs, stores, {
      discoveryEnv: { NODE_DISABLE_COMPILE_CACHE: '1', TMPDIR: scratch },
    })
  })
  afterAll(async () => {
    await programs.end()
    await open.stores?.stop()
    await rm(open.scratch ?? '', { recursive: true, force: true })
  })

  it.each(hostile)('%s fails its run with %s and the reason', async (_name, code, archive) => {
    const runId = await services.api.submit(archive, { agents: ['lint'] })
    const { events, status } = await services.api.follow(runId)
    expect(status).toBe('failed')
    const last = events.at(-1)
    expect([last?.event, last?.error_code, typeof last?.data['reason']]).toEqual(['run.failed', code, 'string'])
    const run = await (await services.api.ask(`/v1/runs/${runId}`)).json()
    expect(run).toMatchObject({ status: 'failed', error_code: code, reason: last?.data['reason'] })
  })

  it('has put nothing on the disk, and never had a bomb in memory', async () => {
    expect(await readdir(open.scratch ?? '')).toEqual([])
    const discovery = (await peakMemory()).find(({ pid }) => pid === services.named('discovery').pid)
    expect(discovery?.peakMb).toBeLessThan(500)
  })
})
