import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { askingAgent } from './asking-agent.ts'
import { remoraHere } from '../remora-here.ts'
import { lastDocument, openPrograms, type Program, remora } from './program.ts'
import { sourceFolder } from './source-folder.ts'

const programs = openPrograms()
afterAll(() => programs.end())

const source = 'def shelf():\n    return 1\n\n\ndef price():\n    return 2\n'
const settings = 'agents: { dir: agents }\ndiscovery: { exclude: [agents] }\n'
const Line = z.looseObject({ event: z.string(), run_id: z.string() })
const Questions = z.object({
  questions: z.array(z.looseObject({ request_id: z.string(), question: z.string(), status: z.string() })),
})

/** What `--json` has printed so far; the last line may be incomplete. */
function eventsOf(program: Program): z.infer<typeof Line>[] {
  const lines = program.out().split('\n').slice(0, -1)
  return lines.flatMap((line) => Line.safeParse(JSON.parse(line)).data ?? [])
}

describe('a run whose agents ask a person', () => {
  it.skipIf(lacks('git'))(
    'keeps waiting after its stack ended, and continues to its patch once it is answered',
    async () => {
      const folder = await sourceFolder({ 'remora.yaml': settings, 'shop.py': source, ...askingAgent })
      const first = remora(programs, folder, ['run', '.', '--agents', 'purpose', '--json'])
      await until(() => eventsOf(first), {
        holds: (events) => events.some(({ event }) => event === 'run.waiting'),
        withinMs: 60_000,
      })
      const runId = eventsOf(first)[0]?.run_id ?? ''

      // While its stack runs, and by two people at once: the first answer counts.
      const listed = await remoraHere(folder, ['answer', runId, '--json'])
      expect(listed.code, listed.err).toBe(0)
      const { questions } = Questions.parse(lastDocument(listed.out))
      expect(questions.map(({ question }) => question).toSorted()).toEqual(['What is price for?', 'What is shelf for?'])
      const of = (name: string) => questions.find(({ question }) => question.includes(name))?.request_id ?? ''
      const answers = ['holding', 'keeping'].map((word) => remoraHere(folder, ['answer', runId, of('shelf'), word]))
      const both = await Promise.all(answers)
      const codes = both.map(({ code }) => code)
      expect(new Set(codes)).toEqual(new Set([0, 1])) // one answer counts, the other is refused
      expect(both.map(({ err }) => err).join('')).toContain('ASK_002')
      const word = codes[0] === 0 ? 'holding' : 'keeping'
      await until(() => eventsOf(first), {
        holds: (events) => events.filter(({ event }) => event === 'operation.ended').length === 1,
      })

      first.kill('SIGTERM')
      await first.exited
      const waits = remora(programs, folder, ['transcript', runId, 'purpose', 'shop.py', 'price'])
      expect(await waits.exited, waits.err()).toBe(0)
      expect(waits.out()).toContain(
        '## Turn 1: a question to a person\n\n`ask_purpose` asks:\n\n```\nWhat is price for?\n',
      )
      const answered = remora(programs, folder, ['answer', runId, of('price'), 'paying', 'for', 'it'])
      expect(await answered.exited, answered.err()).toBe(0)
      expect(answered.out()).toContain(`remora run --resume ${runId}`)

      const second = remora(programs, folder, ['run', '--resume', runId, '--json', '--out', 'purpose.patch'])
      expect(await second.exited, second.err()).toBe(0)
      await folder.apply(await folder.read('purpose.patch'))
      expect(await folder.read('shop.py')).toBe(
        `# ${word}\ndef shelf():\n    return 1\n\n\n# paying for it\ndef price():\n    return 2\n`,
      )
      const transcript = remora(programs, folder, ['transcript', runId, 'shop.py', 'price'])
      expect(await transcript.exited, transcript.err()).toBe(0)
      expect(transcript.out()).toMatch(/### Answer of `ask_purpose`[^:]+: success\n/)
      expect(transcript.out()).toContain('- `ask_user("What is price for?",null)` gave `"paying for it"`')
      expect(transcript.out()).toContain('## Outcome: succeeded')
      const verify = remora(programs, folder, ['verify', runId])
      expect(await verify.exited, verify.out()).toBe(0)
      await folder.remove()
    },
  )

  it('prints its question in a pipe, and refuses a question that does not exist, other answers, and any once it is over', async () => {
    const asking = askingAgent['agents/purpose/tools/ask_purpose.pym'] ?? ''
    const choosing = asking.replace('for?")', 'for?", ["use", "show"])')
    const folder = await sourceFolder({
      'remora.yaml': settings,
      'shop.py': 'def shelf():\n    return 1\n',
      ...askingAgent,
      'agents/purpose/tools/ask_purpose.pym': choosing,
    })
    const run = remora(programs, folder, ['run', '.', '--agents', 'purpose', '--out', 'purpose.patch'])
    await until(() => run.err(), { holds: (text) => text.includes(' TEXT'), withinMs: 60_000 })
    expect(run.err()).toContain('q1  purpose shop.py shelf asks: What is shelf for? (use | show)')
    const runId = /remora answer (\S+) q1/.exec(run.err())?.[1] ?? ''
    const give = async (...words: string[]): Promise<[number, string]> => {
      const { code, err } = await remoraHere(folder, ['answer', runId, ...words])
      return [code, err]
    }
    expect(await give('q9', 'use')).toEqual([1, expect.stringContaining('ASK_001')])
    expect(await give('q1', 'sell')).toEqual([1, expect.stringContaining('ASK_005')])
    expect((await give('q1', 'use'))[0]).toBe(0)
    expect(await run.exited, run.err()).toBe(0)
    expect(await folder.read('purpose.patch')).toContain('+# use')
    expect(await give('q1', 'show')).toEqual([1, expect.stringContaining('RUN_007')])
    await folder.remove()
  })
})
