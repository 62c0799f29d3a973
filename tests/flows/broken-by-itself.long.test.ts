import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { editingAgent } from '../editing-agent.ts'
import { lastDocument } from '../program.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const agents = {
  ...editingAgent('unused', { from: 'return price', to: 'import json\n    return price' }),
  ...editingAgent('half', { from: 'return price * 2', to: 'return price / 2' }),
  ...editingAgent('using', { from: 'return amount', to: 'return json.dumps(amount)' }),
  ...editingAgent('import', { kinds: 'file', from: 'import os\n', to: 'import json\nimport os\n' }),
}
const files = {
  'src/prices.py': 'def gross(price):\n    return price + 1\n\n\ndef twice(price):\n    return price * 2\n',
  'src/text.py': 'import os\n\n\ndef text(amount):\n    print(os.name)\n    return amount\n',
}

const Run = z.object({ result: z.looseObject({ run_id: z.string() }) })

describe('a change set that breaks its file by itself', () => {
  const folder = useSourceFolder({ ...agents, ...files })
  const services = useOneProcess(() => ({ env: { REMORA_AGENTS_DIR: join(folder.path, 'agents') } }))
  let runId: string
  beforeAll(async () => {
    const run = await ask('run', 'src', '--agents', 'unused,half,using,import', '--json')
    runId = Run.parse(lastDocument(run.out)).result.run_id
  })
  const ask = (...args: string[]) => services.remora(folder, args, { REMORA_AGENTS_DIR: 'agents' })

  it('is not accepted, with the check that fails, and the others of a request are', async () => {
    const alone = await ask('accept', runId, 'unused', 'prices.py', 'gross')
    expect(alone).toMatchObject({ code: 1, out: '' })
    expect(alone.err).toMatch(/refused: WORK_004 .* breaks prices\.py by itself: lint_before_after fails: .*F401.*json/)
    const both = await ask('accept', runId, '--where', 'path=prices.py', 'evidence=passed')
    expect(both).toMatchObject({ code: 3, out: expect.stringMatching(/^accepted +half +prices\.py twice/) })
    expect(both.err).toMatch(/refused: WORK_004 .*unused/)
  })

  it('is named by the patch of what was accepted where it needs another one that is not accepted', async () => {
    expect(await ask('accept', runId, 'using', 'text.py', 'text')).toMatchObject({ code: 0 })
    const why = /1 accepted change set left out of the patch:\n {2}WORK_004 {2}using \S+ text\.py text .*F821/
    const diff = await ask('diff', runId, '--of', 'accepted')
    expect(diff.err).toMatch(why)
    expect(diff.out).toContain('price / 2')
    expect(diff.out).not.toContain('json')
    const proposed = await ask('diff', runId)
    expect(proposed).toMatchObject({ code: 0, out: expect.stringContaining('json.dumps(amount)') })
    expect(proposed.err).toMatch(/change sets? left out of the patch:\n {2}WORK_004 {2}unused \S+ prices\.py gross/)
    const applied = await ask('apply', runId, '--to', 'src')
    expect(applied).toMatchObject({ code: 3, out: expect.stringContaining('prices.py  changed\n1 file written') })
    expect(applied.err).toMatch(why)
    const shown = await ask('show', runId)
    expect(shown.out).toContain('unused: 2 generated, 0 valid, 0 verified, 0 accepted\n')
    expect(shown.out).toContain('left out    1 accepted change set')
    expect(shown.out).toMatch(
      /2 change sets left out of the patch:\n {2}WORK_004 {2}unused \S+ prices\.py gross \(line 2\)/,
    )
    await ask('undo', runId, 'half', 'prices.py', 'twice')
    const nothing = await ask('apply', runId, '--to', 'src')
    expect(nothing).toMatchObject({
      code: 1,
      out: `run ${runId}: nothing to apply, all that is accepted of it is left out\n`,
    })
  })

  it('is in the patch as soon as the one that it needs is accepted', async () => {
    expect(await ask('accept', runId, 'import', 'text.py')).toMatchObject({ code: 0 })
    const applied = await ask('apply', runId, '--to', 'src')
    expect(applied).toMatchObject({ code: 0, err: '', out: expect.stringContaining('text.py  changed\n') })
    expect(await folder.read('src/text.py')).toContain('json.dumps(amount)')
  })
})
