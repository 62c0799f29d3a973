import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lastDocument, openPrograms, remora } from './program.ts'
import { smallSource, sourceFolder, type SourceFolder } from './source-folder.ts'

const Result = z.object({
  result: z.looseObject({ failures: z.array(z.looseObject({ error_code: z.string(), count: z.int() })) }),
})

const programs = openPrograms()
afterAll(() => programs.end())

describe('the rehearsal model of a command', () => {
  let folder: SourceFolder
  beforeEach(async () => {
    folder = await sourceFolder(smallSource)
  })
  afterEach(() => folder.remove())

  async function run(env: Readonly<Record<string, string>>) {
    const args = ['run', '--agents', 'docstring', '--paths', 'shop', '--out', 'x.patch', '--json']
    const program = remora(programs, folder, args, env)
    const code = await program.exited
    return {
      code,
      out: program.out(),
      failed: Result.parse(lastDocument(program)).result.failures.map((one) => `${one.count} ${one.error_code}`),
    }
  }

  it('has the faults that its variable names, in a run', async () => {
    const { code, failed } = await run({ REMORA_REHEARSAL_FAULTS: 'oversized:1' })
    expect({ code, failed }).toEqual({ code: 1, failed: ['2 AGENT_007'] })
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
