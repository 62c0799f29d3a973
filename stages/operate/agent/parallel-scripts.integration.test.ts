import { afterEach, describe, expect, it } from 'vitest'
import { openLog } from '#platform/log.ts'
import { until } from '#testing/until.ts'
import { compileScript } from '#tool-scripts/compiled-script.ts'
import { openScriptPool, type ScriptPool } from '#tool-scripts/script-pool.ts'
import { scriptTool } from '../tools/script-tool.ts'
import { runAgent } from './run-agent.ts'
import { call, never, scriptedAgent, submitting } from './scripted-agent.fixture.ts'

const source = (external: string) => `from grail import Input, external

path: str = Input("path")

@external
async def ${external}(path: str) -> str: ...

text = await ${external}(path)
answer = {"result": text, "summary": path, "knowledge_delta": {}, "outcome": "success"}
answer
`

const definition = {
  name: 'peek',
  description: 'Peek.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}

describe('calls of one reply in real script processes', () => {
  let pool: ScriptPool | undefined
  afterEach(() => pool?.close())

  /** The external answers when as many scripts wait as may run at the same time; `most` is how many did. */
  async function peekAtOnce(
    external: string,
    { calls, parallelTools }: { calls: number; parallelTools: number },
    together: number,
  ) {
    pool = openScriptPool({ size: 4 })
    const seen = { now: 0, most: 0, rest: calls }
    const answer = async ([path]: readonly unknown[]) => {
      seen.now += 1
      seen.most = Math.max(seen.most, seen.now)
      await until(() => seen, { holds: ({ now, rest }) => now === Math.min(together, rest) })
      await Promise.resolve()
      seen.now -= 1
      seen.rest -= 1
      return `text of ${String(path)}`
    }
    const tool = scriptTool({
      definition,
      script: await compileScript({ path: 'peek.pym', source: source(external) }),
      providedInputs: async () => ({}),
      externals: new Map([[external, answer]]),
      limits: { preset: 'default' },
      pool,
      log: openLog({ service: 'test', level: 'silent' }),
    })
    const asked = Array.from({ length: calls }, (_, at) => call('peek', { path: `${at}` }, `c${at}`))
    const { agent, transcript } = scriptedAgent([asked, [submitting()]], { parallelTools }, [tool])
    expect(await runAgent(agent, never)).toMatchObject({ kind: 'submitted' })
    expect(transcript.toolRuns.map(({ result }) => result.summary)).toEqual(asked.map((_, at) => `${at}`))
    return seen.most
  }

  it('are exactly as many at once as the bundle says, where they only read', async () => {
    expect(await peekAtOnce('read_file', { calls: 3, parallelTools: 3 }, 3)).toBe(3)
  })

  it('are one at a time where the bundle says so', async () => {
    expect(await peekAtOnce('read_file', { calls: 4, parallelTools: 1 }, 1)).toBe(1)
  })

  it('are one at a time where they may write', async () => {
    expect(await peekAtOnce('write_file', { calls: 4, parallelTools: 4 }, 1)).toBe(1)
  })
})
