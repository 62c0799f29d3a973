import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const label = 'def label(row):\n    return f"shelf" + row\n'
const stock = `import json\nimport os\nimport sys\n\n\n${label}`
const files = {
  'pyproject.toml': '[project]\nname = "shop"\n\n[tool.ruff.lint]\nselect = ["F"]\nignore = ["F541"]\n',
  'src/shop/__init__.py': '',
  'src/shop/stock.py': stock,
  'src/shop/old.py': 'import sys\n',
  'tests/test_stock.py': 'from shop.stock import json\n\nassert json\n',
  'tests/test_prices.py': 'import sys\n',
}

describe.skipIf(lacks('git'))('remora run on a part of a repository', () => {
  const folder = useSourceFolder(files)
  const services = useOneProcess({ env: { REMORA_MODEL_URLS: 'rehearsal' } })
  beforeAll(async () => {
    await promisify(execFile)('git', ['init', '-q', folder.path])
  })

  const run = async (...args: string[]) => {
    const answer = await services.remora(folder, ['run', ...args, '--agents', 'lint', '--out', 'proposed.patch'])
    expect(answer).toMatchObject({ code: 0 })
    return { patch: await folder.read('proposed.patch'), printed: answer.out }
  }

  it('works on that part only, under the rules above it, and keeps what files outside of it use', async () => {
    const { patch, printed } = await run('src/shop', '--exclude', 'old.py')
    expect(printed).toMatch(/Apply it: +remora apply \w+ --of proposed\n/)
    await folder.apply(patch)
    expect(await folder.read('src/shop/stock.py')).toBe(`import json\n\n\n${label}`)
    for (const path of ['src/shop/old.py', 'tests/test_prices.py'] as const) {
      expect(await folder.read(path)).toBe(files[path])
      expect(patch).not.toContain(path)
    }
  })
})
