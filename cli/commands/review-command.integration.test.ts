import { describe, expect, it } from 'vitest'
import { plannedOperation, playRun } from '../../services/api/played-run.fixture.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()

/** In a pipe. */
async function review(...args: string[]): Promise<{ out: string; err: string; failed: unknown }> {
  const printed = { code: 0, out: '', err: '' }
  const failed = await served.remoraWith({ printed, interactive: () => undefined }, 'review', ...args).then(
    () => undefined,
    (error: unknown) => error,
  )
  return { ...printed, failed }
}

const creating = (name: string) => ({
  name,
  changes: [{ kind: 'create' as const, path: `${name}.py`, content: 'x = 1\n' }],
})

describe('remora review in a pipe', () => {
  it('is wrong usage that names the commands for scripts', async () => {
    const { err, failed } = await review('r0123456789')
    expect(err).toMatch(/^error: review needs a terminal .*"remora diff", "remora accept" and "remora reject"/)
    expect(failed).toMatchObject({ exitCode: 2 })
  })

  it('prints with --json the changes that are to be looked at, with their evidence, and decides nothing', async () => {
    const runId = await playRun(served.api, [creating('one'), creating('two')])
    const { out } = await review(runId, '--json')
    expect(JSON.parse(out)).toMatchObject({
      run_id: runId,
      where: { verdict: 'pending' },
      changes: [
        {
          operation_id: plannedOperation('one').operationId,
          agent: 'lint',
          diff: expect.stringContaining('+x = 1\n'),
          evidence: [{ check: 'parses', ok: true }],
          verdict: 'pending',
        },
        { operation_id: plannedOperation('two').operationId },
      ],
    })
    const of = async (...where: string[]) => JSON.parse((await review(runId, '--json', '--where', ...where)).out)
    expect(await of('path=two.py', 'agent=lint')).toMatchObject({ changes: [{ qualified_name: 'two' }] })
    expect(await of('verdict=accepted')).toEqual({ run_id: runId, where: { verdict: 'accepted' }, changes: [] })
  })

  it('refuses conditions that are none, and an agent that the run does not have', async () => {
    const runId = await playRun(served.api, [creating('one')])
    expect((await review(runId, '--json', '--where', 'bundle=lint')).err).toContain('It must be a condition KEY=VALUE')
    expect((await review(runId, '--json', '--where', 'agent=lnt')).failed).toMatchObject({
      code: 'RUN_002',
      phase: 'usage',
    })
    expect((await review('r0123456789', '--json')).failed).toMatchObject({ code: 'RUN_001' })
  })
})
