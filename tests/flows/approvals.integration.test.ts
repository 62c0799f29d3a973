import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { sourceFolder } from '../source-folder.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const names = ['shelf', 'price', 'stock', 'count']
const source = names.map((name) => `def ${name}():\n    return 1\n`).join('\n\n')
const Asked = z.object({
  questions: z.array(
    z.looseObject({ request_id: z.string(), kind: z.string(), qualified_name: z.string(), call: z.unknown() }),
  ),
})
const Counted = z.looseObject({ status: z.string(), counts: z.record(z.string(), z.number()) })

const script = (work: string) => `"""Stamps a function."""
from typing import Any

from grail import Input, external

file_path: str = Input("file_path")
node_name: str = Input("node_name")
${work}
answer = {"result": node_name, "summary": "done", "knowledge_delta": {}, "outcome": "success"}
answer
`
const stampingAgent = {
  'agents/stamping/bundle.yaml': `name: stamping
description: Write a word above a function.
node_kinds: [function]
languages: [python]
initial_context:
  system_prompt: |
    <task_description>Write a word above the function. Always respond with a tool call.</task_description>
  node_context: "{{ qualified_name }} in {{ file_path }}"
tools:
  - { name: write_stamp, script: tools/write_stamp.pym, description: Write a word above it., approval: required }
  - { name: look, script: tools/look.pym, description: Look at it. }
  - { builtin: submit_result }
evidence: [parses]
`,
  'agents/stamping/tools/look.pym': script(''),
  'agents/stamping/tools/write_stamp.pym': script(`word: str = Input("word")


@external
async def read_file(path: str) -> str: ...


@external
async def write_file(path: str, content: str) -> dict[str, Any]: ...


head = f"def {node_name}("
before = await read_file(file_path)
await write_file(file_path, before.replace(head, f"# {word}\\n{head}"))`),
}

describe('a run whose agent has a tool that waits for approval', () => {
  const bundles = useSourceFolder(stampingAgent)
  const services = useOneProcess(() => ({ env: { REMORA_AGENTS_DIR: join(bundles.path, 'agents') } }))

  it.skipIf(lacks('git'))(
    'makes the calls that people allow, once or for the run, and tells the agent of the others',
    async () => {
      const folder = await sourceFolder({ 'shop.py': source })
      onTestFinished(folder.remove)
      const printed = { out: '', err: '' }
      const env = { REMORA_AGENTS_DIR: join(bundles.path, 'agents') }
      const args = ['run', '.', '--agents', 'stamping', '--out', 'stamped.patch']
      const ended = services.remora(folder, args, env, printed)
      await until(() => printed.err, { holds: (text) => text.includes('q4  stamping'), withinMs: 60_000 })
      expect(printed.err).toContain('asks to call write_stamp with {"word":"rehearsal"}')
      const runId = /remora answer (\S+) q1 --allow/.exec(printed.err)?.[1] ?? ''
      const read = async (path: string): Promise<unknown> => (await services.api.ask(`/v1/runs/${runId}${path}`)).json()
      await until(async () => Counted.parse(await read('')), { holds: ({ status }) => status === 'waiting' })

      const { counts } = Counted.parse(await read(''))
      expect(counts).toMatchObject({ waiting: 4, running: 0, dispatched: 0, ready: 0 })
      const { questions } = Asked.parse(await read('/questions'))
      const call = { tool: 'write_stamp', arguments: '{"word":"rehearsal"}' }
      expect(questions.map((one) => [one.kind, one.call])).toEqual(names.map(() => ['approval', call]))
      const of = (name: string) => questions.find((one) => one.qualified_name === name)?.request_id ?? ''
      const answer = (name: string, ...words: string[]) =>
        services.remora(folder, ['answer', runId, of(name), ...words])

      // By two people at once: the first answer counts.
      const both = await Promise.all([answer('shelf', '--allow'), answer('shelf', '--deny')])
      expect(new Set(both.map(({ code }) => code))).toEqual(new Set([0, 1]))
      expect(both.map(({ err }) => err).join('')).toContain('ASK_002')
      expect(await answer('price', 'yes')).toMatchObject({ code: 1, err: expect.stringContaining('ASK_005') })
      expect((await answer('price', '--deny', 'not', 'on', 'a', 'Friday')).out).toContain('deny: not on a Friday')
      expect(await answer('stock', '--allow-for-run')).toMatchObject({ code: 0 })

      // Nobody has answered what count asks.
      expect(await ended).toMatchObject({ code: 0 })
      expect((await services.remora(folder, ['answer', runId, of('count')])).out).toContain('answered: allow_for_run')
      await folder.apply(await folder.read('stamped.patch'))
      const stamped = both[0]?.code === 0 ? ['shelf', 'stock', 'count'] : ['stock', 'count']
      const text = await folder.read('shop.py')
      expect(names.filter((name) => text.includes(`# rehearsal\ndef ${name}(`))).toEqual(stamped)
      const transcript = await services.remora(folder, ['transcript', runId, 'shop.py', 'price'])
      expect(transcript.out).toMatch(/TOOL_008[^]+not on a Friday[^]+`look`[^]+Outcome: unchanged/)
      expect(await services.verify(runId)).toMatchObject({ code: 0, err: '' })
    },
  )
})
