import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { remoraHere } from '../remora-here.ts'
import { rawZip } from '#stages/snapshot/raw-zip.fixture.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../e2e/source-folder.ts'
import { type OneProcess, startInOneProcess } from './one-process.ts'

const good = { name: 'good.py', content: 'import os\n' }

describe('remora run on an archive', () => {
  let services: OneProcess
  let place: SourceFolder
  let unpacked: SourceFolder
  beforeAll(async () => {
    place = await sourceFolder({})
    unpacked = await sourceFolder(smallSource)
    services = await startInOneProcess({ env: { REMORA_MODEL_URLS: 'rehearsal' } })
  })
  afterAll(async () => {
    await services.close()
    await place.remove()
    await unpacked.remove()
  })

  it('is refused in one line that names the format and what to send, before anything starts', async () => {
    await writeFile(join(place.path, 'x.zip'), '# v2 git bundle\n')
    const run = await remoraHere(place, ['run', 'x.zip', '--agents', 'lint'])
    expect(run.code).toBe(1)
    expect(run.err).toMatch(/^remora: INTAKE_001 [^\n]*x\.zip is a git bundle: send [^\n]*git archive[^\n]*\n$/)
    expect(existsSync(join(place.path, '.remora'))).toBe(false)
  })

  it.skipIf(lacks('git'))(
    'writes a patch for the folder that a zip unpacks to, says how to apply it, and what was passed over',
    async () => {
      const files = Object.entries(smallSource).map(([name, content]) => ({ name, content }))
      await writeFile(join(place.path, 'source.zip'), rawZip([...files, { name: '.git/HEAD', content: 'ref' }]))
      const run = await services.remora(place, ['run', 'source.zip', '--agents', 'lint', '--out', 'x.patch'])
      expect(run).toMatchObject({ code: 0 })
      expect(run.out).toContain(".git  Git's own data")
      expect(run.out).toMatch(/Apply it: +git apply .*\S+x\.patch {2}# in the folder that source\.zip unpacks to\n/)
      await unpacked.apply(await place.read('x.patch'))
      expect(await unpacked.read('shop/stock.py')).toContain('if name not in self.items')
    },
  )

  it('that leads out fails its run with the reason, and the next one is taken', async () => {
    const hostile = rawZip([{ ...good, name: '../../etc/cron.d/x' }])
    const failed = await services.api.submit(hostile, { agents: ['lint'] })
    const { events, status } = await services.api.follow(failed)
    expect(status).toBe('failed')
    const last = events.at(-1)
    expect([last?.event, last?.error_code]).toEqual(['run.failed', 'INTAKE_002'])
    const run = await (await services.api.ask(`/v1/runs/${failed}`)).json()
    expect(run).toMatchObject({ status: 'failed', error_code: 'INTAKE_002', reason: last?.data['reason'] })
    const next = await services.api.submit(rawZip([good, { ...good, name: '.git/HEAD' }]), { agents: ['lint'] })
    expect((await services.api.follow(next)).status).toBe('completed')
    const skipped = { skipped: 1, skipped_files: [{ path: '.git', reason: "Git's own data" }] }
    expect(await (await services.api.ask(`/v1/runs/${next}`)).json()).toMatchObject(skipped)
  })
})
