import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { silentLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { RunAgenda } from '#schemas/agenda-schema.ts'
import { RunView } from '#schemas/run-schema.ts'
import { parseConfig } from '../../services/conductor/conductor-config.ts'
import { startConductor } from '../../services/conductor/conductor-service.ts'
import { lastDocument } from '../program.ts'
import { storeEnv } from '../services.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const files = { 'shop/stock.py': 'import os\n\n\ndef label(row):\n    return f"shelf" + row\n' }
const folder = useSourceFolder(files)
const services = useOneProcess()

let closeConductor: () => Promise<void>
beforeAll(async () => {
  const { config: conductor } = parseConfig({
    ...storeEnv(services.stores),
    REMORA_MODEL_URLS: `${services.named('rehearsal').origin}/v1`,
    REMORA_CONDUCTOR_HEALTH_PORT: '0',
  })
  const { close } = await startConductor(conductor, { log: silentLog, redactor: openRedactor([]) })
  closeConductor = close
})
afterAll(() => closeConductor())

const Tokens = z.object({ prompt_tokens: z.int(), completion_tokens: z.int() })

const run = (objective: string, ...args: string[]) =>
  services.remora(folder, ['run', '.', '--objective', objective, ...args])

describe('remora run --objective', () => {
  it.for(['lint is clean', 'get rid of every fault of the linter', 'ls -la', './x', 'a && b'])(
    'makes the same plan of agents and does nothing of it, whatever the words: %s',
    async (objective) => {
      const { code, out, err } = await run(objective, '--agents', 'lint,docstring', '--plan-only', '--json')
      expect(code, err).toBe(0)
      const { agenda } = z.object({ agenda: RunAgenda }).parse(lastDocument(out))
      expect(agenda.objective).toBe(objective)
      expect(agenda.items).toMatchObject([
        { item_id: 'lint', status: 'waiting', counts: { planned: 0, estimate: { operations: 1, tokens: 0 } } },
        { item_id: 'docstring', status: 'waiting', counts: { planned: 0, estimate: { operations: 1 } } },
      ])
      expect(agenda.decisions.map(({ kind }) => kind)).toEqual(['plan'])
      expect(await folder.read('shop/stock.py')).toBe(files['shop/stock.py'])
    },
  )

  it('ends with an answer beside the patch', async () => {
    const { code, out, err } = await run('lint is clean', '--agents', 'lint')
    expect(code, err).toBe(0)
    expect(out).toMatch(/\nAnswer:\n  The rehearsal model \(no LLM\) has [^]*\n  It rests on event 1\n/)
    expect(out).toContain('Proposed patch: ')
  })

  it('executes nothing where no plan can be made, says why, and ends with 1', async () => {
    const { code, out } = await run('lint is clean', '--json')
    expect(code).toBe(1)
    const { result } = z
      .object({
        result: z.object({ run_id: z.string(), status: z.string(), error_code: z.string(), answer: z.null() }),
      })
      .parse(lastDocument(out))
    expect(result).toMatchObject({ status: 'blocked', error_code: 'POLICY_003' })
    const shown = RunView.parse(JSON.parse((await services.remora(folder, ['show', result.run_id, '--json'])).out))
    expect(shown).toMatchObject({ status: 'blocked', reason: expect.stringContaining('only agents that are named') })
    expect(Object.values(shown.counts).every((count) => count === 0)).toBe(true)
  })

  it('is asked about when it has ended, by a person and by a program', async () => {
    const { out } = await run('lint is clean', '--agents', 'lint', '--json')
    const Result = z.object({
      run_id: z.string(),
      tokens: z.int(),
      agents: z.object({ lint: z.object({ tokens: z.int() }) }),
    })
    const { run_id: runId, tokens, agents } = z.object({ result: Result }).parse(lastDocument(out)).result
    const completed = out.split('\n').find((line) => line.includes('"event":"run.completed"')) ?? ''
    const { data } = z.object({ data: Tokens }).parse(JSON.parse(completed))
    expect([agents.lint.tokens, data.prompt_tokens + data.completion_tokens]).toEqual([0, tokens])
    expect(tokens).toBeGreaterThan(0)
    const shown = await services.remora(folder, ['show', runId])
    expect(shown.out).toMatch(/\ntokens +([\d,]+), of them \1 by planner, watcher and asks\n/)
    const said = await services.remora(folder, ['ask', runId, 'what', 'is', 'left?'])
    expect([said.code, said.out]).toEqual([
      0,
      expect.stringMatching(/^Answer:\n  This is the rehearsal model \(no LLM\)/),
    ])
    const { out: document } = await services.remora(folder, ['ask', runId, 'and why?', '--json'])
    expect(JSON.parse(document)).toMatchObject({
      run_id: runId,
      status: 'answered',
      text: 'and why?',
      answer: { events: [1] },
    })
    const empty = await services.remora(folder, ['ask', runId, ' '])
    expect([empty.code === 0, empty.err]).toEqual([false, expect.stringContaining('INTAKE_008')])
  })

  it('refuses what belongs to a plan where there is none', async () => {
    const answer = await services.remora(folder, ['run', '.', '--agents', 'lint', '--approve'])
    expect([answer.code, answer.err]).toEqual([2, expect.stringContaining('--approve is for a run with --objective')])
  })
})
