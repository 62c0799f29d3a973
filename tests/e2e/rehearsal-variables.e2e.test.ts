import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lastDocument, openPrograms, remora } from './program.ts'
import { smallSource, sourceFolder, type SourceFolder } from './source-folder.ts'

const Result = z.object({
  result: z.looseObject({
    run_id: z.string(),
    failures: z.array(z.looseObject({ error_code: z.string(), count: z.int() })),
  }),
})

const programs = openPrograms()
afterAll(() => programs.end())

describe('the rehearsal model of a command', () => {
  let folder: SourceFolder
  beforeEach(async () => {
    folder = await sourceFolder(smallSource)
  })
  afterEach(() => folder.remove())

  const docstring = ['run', '--agents', 'docstring', '--paths', 'shop']
  async function run(env: Readonly<Record<string, string>>, args: readonly string[] = docstring) {
    const program = remora(programs, folder, [...args, '--out', 'x.patch', '--json'], env)
    const code = await program.exited
    const { run_id: runId } = Result.parse(lastDocument(program.out())).result
    return {
      code,
      runId,
      out: program.out(),
      failed: Result.parse(lastDocument(program.out())).result.failures.map((one) => `${one.count} ${one.error_code}`),
    }
  }

  it('has the faults that its variable names, in a run, which is tried again by its error code', async () => {
    const { code, failed, runId } = await run({ REMORA_REHEARSAL_FAULTS: 'oversized:1' })
    expect({ code, failed }).toEqual({ code: 1, failed: ['2 AGENT_007'] })

    const show = remora(programs, folder, ['show', runId])
    expect(await show.exited, show.err()).toBe(0)
    expect(show.out()).toMatch(/^AGENT_007 \(2 operations\) {2}docstring o[0-9a-f]{16} {2}shop\/.+: /m)
    const unused = remora(programs, folder, ['retry', runId, '--code', 'AGENT_002'])
    expect(await unused.exited).toBe(1)
    expect(unused.err()).toContain('failed with AGENT_002; its codes: AGENT_007 (2)')
    expect(await run({}, ['retry', runId, '--code', 'AGENT_007'])).toMatchObject({ code: 0, failed: [] })
  })

  it('refuses what its variable names, in a run, and then gets requests of another form', async () => {
    const { code, failed, out } = await run({ REMORA_REHEARSAL_REFUSES: 'tools,named' })
    expect({ code, failed }).toEqual({ code: 0, failed: [] })
    expect(out).toContain('tools: described in the prompt')
  })

  it('has the faults that its variable names, in a harness', async () => {
    const args = ['harness', '--requests', '1', '--shapes', 'boolean', '--json']
    const program = remora(programs, folder, args, { REMORA_REHEARSAL_FAULTS: 'no_tool_call:1' })
    expect(await program.exited, program.err()).toBe(1)
    expect(JSON.parse(program.out())).toMatchObject({ passed: false, sides: [{ total: { called: 0 } }] })
  })
})
