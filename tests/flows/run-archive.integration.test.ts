import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { rawZip } from '#stages/snapshot/raw-zip.fixture.ts'
import { smallSource } from '../source-folder.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const good = { name: 'good.py', content: 'import os\n' }

describe('remora run on an archive', () => {
  const place = useSourceFolder({})
  const unpacked = useSourceFolder(smallSource)
  const services = useOneProcess({ env: { REMORA_MODEL_URLS: 'rehearsal' } })

  it.skipIf(lacks('git'))(
    'writes a patch for the folder that a zip unpacks to, says how to apply it, and what was passed over',
    async () => {
      const files = Object.entries(smallSource).map(([name, content]) => ({ name, content }))
      await writeFile(join(place.path, 'source.zip'), rawZip([...files, { name: '.git/HEAD', content: 'ref' }]))
      const run = await services.remora(place, ['run', 'source.zip', '--agents', 'lint', '--out', 'x.patch'])
      expect(run).toMatchObject({ code: 0 })
      expect(run.out).toContain(".git  Git's own data")
      expect(run.out).toMatch(
        /Apply it: +remora apply \w+ --of proposed {2}# in the folder that source\.zip unpacks to\n/,
      )
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
