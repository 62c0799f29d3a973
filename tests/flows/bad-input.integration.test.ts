import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { lastDocument } from '../program.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../source-folder.ts'
import { useOneProcess } from '../use-services.ts'

const folders: SourceFolder[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await folder.remove()
})

const services = useOneProcess({ env: { REMORA_MODEL_URLS: 'rehearsal' } })

async function folderOf(files: Readonly<Record<string, string>>): Promise<SourceFolder> {
  const folder = await sourceFolder(files)
  folders.push(folder)
  return folder
}

const Result = z.object({
  result: z.looseObject({
    status: z.string(),
    error_code: z.string().nullable(),
    patch: z.looseObject({ path: z.string() }).nullable(),
  }),
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
