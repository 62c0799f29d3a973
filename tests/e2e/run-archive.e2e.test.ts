import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { rawZip } from '../../services/discovery/snapshot/raw-zip.fixture.ts'
import { openPrograms, remora } from './program.ts'
import { smallSource, sourceFolder, type SourceFolder } from './source-folder.ts'

describe('remora run on an archive', () => {
  const programs = openPrograms()
  let place: SourceFolder
  let unpacked: SourceFolder
  beforeAll(async () => {
    place = await sourceFolder({})
    unpacked = await sourceFolder(smallSource)
  })
  afterAll(async () => {
    await programs.end()
    await place.remove()
    await unpacked.remove()
  })

  it('is refused in one line that names the format and what to send, before anything starts', async () => {
    await writeFile(join(place.path, 'x.zip'), '# v2 git bundle\n')
    const run = remora(programs, place, ['run', 'x.zip', '--agents', 'lint'])
    expect(await run.exited).toBe(1)
    expect(run.err()).toMatch(/^remora: INTAKE_001 [^\n]*x\.zip is a git bundle: send [^\n]*git archive[^\n]*\n$/)
    expect(existsSync(join(place.path, '.remora'))).toBe(false)
  })

  it.skipIf(lacks('git'))(
    'writes a patch for the folder that a zip unpacks to, says how to apply it, and what was passed over',
    async () => {
      const files = Object.entries(smallSource).map(([name, content]) => ({ name, content }))
      await writeFile(join(place.path, 'source.zip'), rawZip([...files, { name: '.git/HEAD', content: 'ref' }]))
      const run = remora(programs, place, ['run', 'source.zip', '--agents', 'lint', '--out', 'x.patch'])
      expect(await run.exited, run.err()).toBe(0)
      expect(run.out()).toContain(".git  Git's own data")
      expect(run.out()).toMatch(/Apply it: +git apply .*\S+x\.patch {2}# in the folder that source\.zip unpacks to\n/)
      await unpacked.apply(await place.read('x.patch'))
      expect(await unpacked.read('shop/stock.py')).toContain('if name not in self.items')
    },
  )
})
