import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readBundle } from './read-bundle.ts'

const yaml = `name: probe
description: Probes.
node_kinds: [function]
languages: [python]
initial_context:
  system_prompt: <task_description>Probe.</task_description> Always respond with a tool call.
  node_context: "{{ node_text }}"
tools:
  - { name: probe, script: tools/probe.pym, description: Probe it. }
  - { builtin: submit_result }
`
const asking = `from grail import Input

tags: list[str] = Input("tags")
found = [tags]
found
`
const running = (external: string, parameter: string) => `from typing import Any

from grail import external


@external
async def ${external}(${parameter}: list[str]) -> dict[str, Any]: ...


ran = await ${external}(["a"])
answer = {"result": ran, "summary": "ran", "knowledge_delta": {}, "outcome": "success"}
answer
`
let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bundle-'))
  await mkdir(join(dir, 'probe', 'tools'), { recursive: true })
})
afterEach(() => rm(dir, { recursive: true }))

async function read(more: string, script: string) {
  await writeFile(join(dir, 'probe', 'bundle.yaml'), `${yaml}${more}\n`)
  await writeFile(join(dir, 'probe', 'tools', 'probe.pym'), script)
  const { file, faults } = await readBundle(join(dir, 'probe'))
  return { file, messages: faults.map(({ message }) => message) }
}

describe('a bundle', () => {
  it('knows which tools code calls around the one turn of a model, and refuses what it cannot do', async () => {
    const plain = asking.replace('Input("tags")', 'Input("tags", default=[])')
    const { file, messages } = await read(
      'turns: one\ngather: [probe]\none_turn: { gather: [], carry_out: probe }',
      plain,
    )
    expect([file?.turns, file?.gather, file?.one_turn, messages]).toEqual([
      'one',
      ['probe'],
      { gather: [], carry_out: 'probe', answer: {} },
      [],
    ])
    const faulty = await read('gather: [probe]\none_turn: { gather: [none], carry_out: submit_result }', asking)
    const words = faulty.messages.join(' ')
    expect(words).toContain('probe cannot be called by code: it requires tags')
    for (const name of ['none', 'submit_result']) expect(words).toContain(`one_turn names ${name}, which is no tool`)
    const form = 'one_turn: { carry_out: probe, answer: { tags: { maxItems: 2 }, other: {} } }'
    expect((await read(form, plain)).messages).toEqual(['one_turn names other, which is no input of probe'])
    expect((await read('turns: one', plain)).messages.join()).toContain('turns: one needs one_turn')
    expect((await read('gather: [probe, probe]', plain)).messages).toEqual(['gather names probe twice'])
  })

  it('may have people approve the calls of a tool that the model makes, and of no other', async () => {
    const plain = asking.replace('Input("tags")', 'Input("tags", default=[])')
    const gated = (more: string) => async (keys: string) => {
      await writeFile(
        join(dir, 'probe', 'bundle.yaml'),
        `${yaml.replace('Probe it. }', `Probe it., ${more} }`)}${keys}\n`,
      )
      await writeFile(join(dir, 'probe', 'tools', 'probe.pym'), plain)
      return (await readBundle(join(dir, 'probe'))).faults.map(({ message, line }) => `${line}: ${message}`)
    }
    const required = gated('approval: required')
    expect(await required('')).toEqual([])
    expect(await required('gather: [probe]')).toEqual([
      '9: probe cannot wait for approval: code calls it, for every operation: leave it out of gather',
    ])
    expect(await required('one_turn: { gather: [probe], carry_out: probe }')).toEqual([
      expect.stringContaining('leave it out of gather'),
      expect.stringContaining('one_turn.carry_out ends the work'),
    ])
    expect(await gated('approval: required, submits: true')('')).toEqual([expect.stringContaining('it submits')])
    expect(await gated('approval: sometimes')('')).not.toEqual([])
  })

  it('may hold replies to a schema, or to a constraint of its own, which is kept as it is written', async () => {
    for (const grammar of ['none', 'json_schema', { regex: 'a+', more: [1] }]) {
      const { file, messages } = await read(`grammar: ${JSON.stringify(grammar)}`, asking)
      expect([file?.grammar, messages]).toEqual([grammar, []])
    }
    const wrong = async (grammar: string) => (await read(`grammar: ${grammar}`, asking)).messages
    expect(await wrong('ebnf')).toEqual([
      "grammar: must be none, json_schema, or a mapping: one of vLLM's structured_outputs",
    ])
    expect(await wrong('{ strategy: ebnf }')).toEqual([
      'grammar: must have one of json, json_object, regex, choice, grammar, structural_tag',
    ])
  })

  it.each([
    ['run_command', 'command', 'programs: [python3]'],
    ['run_tests', 'paths', 'programs: []'],
  ])('whose script calls %s says which programs it may start', async (external, parameter, key) => {
    const script = running(external, parameter)
    expect((await read(key, script)).messages).toEqual([])
    const fault = `tools/probe.pym calls ${external}: name the programs in \`programs\`, or write programs: [] for tests alone`
    expect((await read('', script)).messages).toEqual([fault])
  })

  it('that asks for evidence of tests says that it runs programs, and is no mechanical one', async () => {
    const asked = 'evidence: [parses, tests_pass]\n'
    expect((await read(`${asked}programs: []`, asking)).messages).toEqual([])
    expect((await read(asked, asking)).messages.join()).toContain('tests_pass runs tests: name the programs')
    const mechanical = `${asked}programs: []\nmechanical: lint_fixes\nwhen: lint_faults`
    expect((await read(mechanical, asking)).messages.join()).toContain('tests_pass is not made of mechanical work')
  })

  it('names programs without a path', async () => {
    expect((await read('programs: [/bin/sh]', asking)).messages.join()).toContain('programs.0')
  })
})
