import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { lastDocument } from '../program.ts'
import { smallSource } from '../source-folder.ts'
import { startInOneProcess } from '../one-process.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const Result = z.object({
  result: z.looseObject({
    run_id: z.string(),
    failures: z.array(z.looseObject({ error_code: z.string(), count: z.int() })),
  }),
})

describe('the rehearsal model', () => {
  const folder = useSourceFolder(smallSource)
  const services = useOneProcess()

  const docstring = ['run', '--agents', 'docstring', '--paths', 'shop']
  /** What its variable would name, once it runs. */
  async function set(what: 'faults' | 'refusals', settings: object): Promise<void> {
    const body = JSON.stringify(settings)
    expect((await fetch(`${services.named('rehearsal').origin}/${what}`, { method: 'POST', body })).status).toBe(200)
  }
  async function run(args: readonly string[] = docstring) {
    const { code, out } = await services.remora(folder, [...args, '--out', 'x.patch', '--json'])
    const { run_id: runId, failures } = Result.parse(lastDocument(out)).result
    return { code, runId, out, failed: failures.map((one) => `${one.count} ${one.error_code}`) }
  }

  it('has the faults that are wanted, in a run, which is tried again by its error code', async () => {
    await set('faults', { shares: { oversized: 1 } })
    const { code, failed, runId } = await run()
    expect({ code, failed }).toEqual({ code: 1, failed: ['2 AGENT_007'] })

    const show = await services.remora(folder, ['show', runId])
    expect(show.out).toMatch(/^AGENT_007 \(2 operations\) {2}docstring o[0-9a-f]{16} {2}shop\/.+: /m)
    const unused = await services.remora(folder, ['retry', runId, '--code', 'AGENT_002'])
    expect(unused.code).toBe(1)
    expect(unused.err).toContain('failed with AGENT_002; its codes: AGENT_007 (2)')
    await set('faults', { shares: {} })
    expect(await run(['retry', runId, '--code', 'AGENT_007'])).toMatchObject({ code: 0, failed: [] })
  })

  it('refuses what it is to refuse, in a run, and then gets requests of another form', async () => {
    const refusing = await startInOneProcess({ env: { REMORA_REHEARSAL_REFUSES: 'tools,named' } })
    onTestFinished(refusing.close)
    const args = [...docstring, '--out', 'x.patch', '--json']
    const { code, out } = await refusing.remora(folder, args)
    const failed = Result.parse(lastDocument(out)).result.failures
    expect({ code, failed }).toEqual({ code: 0, failed: [] })
    expect(out).toContain('tools: described in the prompt')
  })
})
