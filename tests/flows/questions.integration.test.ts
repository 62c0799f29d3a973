import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { askingAgent, choosingAgent } from '../asking-agent.ts'
import { lastDocument } from '../program.ts'
import { sourceFolder, type SourceFolder } from '../source-folder.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const source = 'def shelf():\n    return 1\n\n\ndef price():\n    return 2\n'
const Line = z.looseObject({ event: z.string(), run_id: z.string() })
const Questions = z.object({
  questions: z.array(z.looseObject({ request_id: z.string(), question: z.string(), status: z.string() })),
})

type Printed = { out: string; err: string }

/** What `--json` has printed so far; the last line may be incomplete. */
function eventsOf({ out }: Printed): z.infer<typeof Line>[] {
  const lines = out.split('\n').slice(0, -1)
  return lines.flatMap((line) => Line.safeParse(JSON.parse(line)).data ?? [])
}

describe('a run whose agents ask a person', () => {
  const bundles = useSourceFolder({ ...askingAgent, ...choosingAgent })
  const services = useOneProcess(() => ({ env: { REMORA_AGENTS_DIR: join(bundles.path, 'agents') } }))
  const begin = (folder: SourceFolder, ...args: string[]) => {
    const printed = { out: '', err: '' }
    const env = { REMORA_AGENTS_DIR: join(bundles.path, 'agents') }
    return { printed, ended: services.remora(folder, ['run', '.', ...args], env, printed) }
  }

  it.skipIf(lacks('git'))('waits until all is answered, each question once, and continues to its patch', async () => {
    const folder = await sourceFolder({ 'shop.py': source })
    onTestFinished(folder.remove)
    const remora = (...args: string[]) => services.remora(folder, args)
    const { printed: first, ended } = begin(folder, '--agents', 'purpose', '--json', '--out', 'purpose.patch')
    await until(() => eventsOf(first), {
      holds: (events) => events.some(({ event }) => event === 'run.waiting'),
      withinMs: 60_000,
    })
    const runId = eventsOf(first)[0]?.run_id ?? ''

    // By two people at once: the first answer counts.
    const listed = await remora('answer', runId, '--json')
    expect(listed.code, listed.err).toBe(0)
    const { questions } = Questions.parse(lastDocument(listed.out))
    expect(questions.map(({ question }) => question).toSorted()).toEqual(['What is price for?', 'What is shelf for?'])
    const of = (name: string) => questions.find(({ question }) => question.includes(name))?.request_id ?? ''
    const answers = ['holding', 'keeping'].map((word) => remora('answer', runId, of('shelf'), word))
    const both = await Promise.all(answers)
    const codes = both.map(({ code }) => code)
    expect(new Set(codes)).toEqual(new Set([0, 1])) // one answer counts, the other is refused
    expect(both.map(({ err }) => err).join('')).toContain('ASK_002')
    const word = codes[0] === 0 ? 'holding' : 'keeping'
    await until(() => eventsOf(first).filter(({ event }) => event === 'operation.ended'), {
      holds: ({ length }) => length === 1,
    })

    const waits = await remora('transcript', runId, 'purpose', 'shop.py', 'price')
    expect(waits.out).toContain('## Turn 1: a question to a person\n\n`ask_purpose` asks:\n\n```\nWhat is price for?\n')
    expect(await remora('answer', runId, of('price'), 'paying', 'for', 'it')).toMatchObject({ code: 0 })
    expect(await ended).toMatchObject({ code: 0 })
    await folder.apply(await folder.read('purpose.patch'))
    expect(await folder.read('shop.py')).toBe(
      `# ${word}\ndef shelf():\n    return 1\n\n\n# paying for it\ndef price():\n    return 2\n`,
    )
    const transcript = await remora('transcript', runId, 'shop.py', 'price')
    expect(transcript.out).toMatch(/### Answer of `ask_purpose`[^:]+: success\n/)
    expect(transcript.out).toContain('- `ask_user("What is price for?",null)` gave `"paying for it"`')
    expect(transcript.out).toContain('## Outcome: succeeded')
    expect(await services.verify(runId)).toMatchObject({ code: 0, err: '' })
  })

  it('prints its question in a pipe, and refuses a question that does not exist, other answers, and any once it is over', async () => {
    const folder = await sourceFolder({ 'shop.py': 'def shelf():\n    return 1\n' })
    onTestFinished(folder.remove)
    const { printed, ended } = begin(folder, '--agents', 'choosing', '--out', 'purpose.patch')
    await until(() => printed.err, { holds: (text) => text.includes(' TEXT'), withinMs: 60_000 })
    expect(printed.err).toContain('q1  choosing shop.py shelf asks: What is shelf for? (use | show)')
    const runId = /remora answer (\S+) q1/.exec(printed.err)?.[1] ?? ''
    const give = async (...words: string[]): Promise<[number, string]> => {
      const { code, err } = await services.remora(folder, ['answer', runId, ...words])
      return [code, err]
    }
    expect(await give('q9', 'use')).toEqual([1, expect.stringContaining('ASK_001')])
    expect(await give('q1', 'sell')).toEqual([1, expect.stringContaining('ASK_005')])
    expect((await give('q1', 'use'))[0]).toBe(0)
    expect(await ended).toMatchObject({ code: 0 })
    expect(await folder.read('purpose.patch')).toContain('+# use')
    expect(await give('q1', 'show')).toEqual([1, expect.stringContaining('RUN_007')])
  })
})
