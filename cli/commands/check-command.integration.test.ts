import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Env } from '#platform/env.ts'
import { until } from '#testing/until.ts'
import { runCommand } from './served-api.fixture.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

const bundle = `name: probe
description: Probes.
node_kinds: [function]
languages: [python]
initial_context:
  system_prompt: <task_description>Probe.</task_description> Always respond with a tool call.
  node_context: "{{ node_text }}"
tools:
  - { name: probe, script: probe.pym, description: Probe it. }
  - { builtin: submit_result }
`
const Diagnostic = z.object({ line: z.int(), message: z.string() })
let dir: string

useFreshFolder((path) => (dir = path))
beforeEach(async () => {
  await mkdir(join(dir, 'agents/probe'), { recursive: true })
  await writeFile(join(dir, 'agents/probe/bundle.yaml'), bundle)
  await writeFile(join(dir, 'agents/probe/probe.pym'), 'x = 1\nx\n')
  await writeFile(join(dir, 'bad.pym'), 'x = 1\nclass A:\n  pass\n')
  await writeFile(join(dir, 'warned.pym'), 'from grail import Input\nx: int = Input("x")\ny = 1\ny\n')
})

const check = (...args: string[]) => runCheck(args)

async function runCheck(
  args: readonly string[],
  given: { signal?: AbortSignal; env?: Env; cwd?: string } = {},
): Promise<{ text: string; code: number }> {
  const { out, err, code } = await runCommand(['check', ...args], { cwd: dir, ...given })
  return { text: `${out}${err}`.replaceAll(`${dir}/`, ''), code }
}

const Report = z.object({ checked: z.array(z.object({ findings: z.array(Diagnostic) })) })

async function found(): Promise<string[]> {
  const { text } = await check('--format', 'json', join(dir, 'agents'))
  const { checked } = Report.parse(JSON.parse(text))
  return checked.flatMap(({ findings }) => findings.map(({ line, message }) => `${line} ${message}`)).toSorted()
}

describe('remora check', () => {
  it("checks the settings' folder of agents when no path is named", async () => {
    const env = { REMORA_AGENTS_DIR: join(dir, 'agents') }
    expect(await runCheck([], { env, cwd: process.cwd() })).toEqual({
      text: 'probe: PASS (2 tools, max_turns 12)\n',
      code: 0,
    })
  })

  it('shows each fault with its line, checks the rest all the same, and exits with 1', async () => {
    const { text, code } = await check(join(dir, 'bad.pym'), join(dir, 'none.pym'), join(dir, 'agents'))
    expect(code).toBe(1)
    expect(text).toContain(
      'bad.pym:2:1 E001 classes are not available in tool scripts; use dicts\n    class A:\n    ^\nbad.pym: FAIL\n',
    )
    expect(text).toContain('none.pym:1:1 AGENT_001 there is no such file or folder\nnone.pym: FAIL\n')
    expect(text).toContain('probe: PASS')
  })

  it('shows first which keys of a bundle do not fit, with the faults of its scripts, and the rest once they do', async () => {
    const faulty = bundle.replace('[function]', '[fil]').replace('description: Probes.\n', 'turn: one\n')
    await writeFile(join(dir, 'agents/probe/bundle.yaml'), `${faulty}evidence: [pases]\n`)
    await writeFile(join(dir, 'agents/probe/probe.pym'), 'class A:\n  pass\n')
    expect(await found()).toEqual([
      '1 classes are not available in tool scripts; use dicts',
      '1 description: is missing, and must be a text',
      '11 evidence.0: there is no pases: did you mean parses?',
      '2 unknown key turn: did you mean turns?',
    ])
    await writeFile(join(dir, 'agents/probe/bundle.yaml'), faulty.replace('turn: one', 'description: Probes.'))
    expect(await found()).toEqual([
      '1 classes are not available in tool scripts; use dicts',
      '3 no query pack finds nodes of kind fil; did you mean file?',
    ])
  })

  it('takes warnings for faults only with --strict', async () => {
    expect((await check(join(dir, 'warned.pym'))).code).toBe(0)
    expect((await check('--strict', join(dir, 'warned.pym'))).code).toBe(1)
  })

  it('prints one JSON document, with the same exit code', async () => {
    const { text, code } = await check('--format', 'json', join(dir, 'bad.pym'), join(dir, 'agents'))
    expect(code).toBe(1)
    expect(JSON.parse(text)).toMatchObject({
      ok: false,
      checked: [
        {
          kind: 'script',
          name: 'bad.pym',
          valid: false,
          findings: [{ code: 'E001', line: 2, column: 1, source: 'class A:' }],
        },
        { kind: 'bundle', name: 'probe', valid: true, tools: 2, max_turns: 12, findings: [] },
      ],
    })
  })

  it('puts the caret under the place, behind tabs and wide characters', async () => {
    await writeFile(join(dir, 'wide.pym'), '\uFEFFx = "漢字"\nif x:\n\tx = "é漢" + 1\ny = "漢"; z = y + 1\nz\n')
    const { text } = await check(join(dir, 'wide.pym'))
    expect(text).toContain('wide.pym:3:6 E100 ')
    expect(text).toContain('    \tx = "é漢" + 1\n    \t    ^\n')
    expect(text).toContain('    y = "漢"; z = y + 1\n                  ^\n')
  })

  it('checks every script of a folder, whatever the others are', async () => {
    const folder = join(dir, 'loose')
    await mkdir(join(folder, 'folder.pym'), { recursive: true })
    await writeFile(join(folder, 'a.pym'), Buffer.from([0xff, 0xfe]))
    await writeFile(join(folder, 'b.pym'), 'x = (1\n')
    await writeFile(join(folder, 'c.pym'), 'x = 1\nx\n')
    expect(await check(folder)).toMatchObject({
      code: 1,
      text: [
        'loose/a.pym:1:1 AGENT_001 it is not UTF-8 text',
        'loose/a.pym: FAIL',
        'loose/b.pym:1:5 E000 invalid syntax: what begins here does not end',
        '    x = (1',
        '        ^',
        'loose/b.pym: FAIL',
        'loose/c.pym: PASS',
        '',
      ].join('\n'),
    })
  })

  it('checks the scripts of a bundle that cannot be read, and those it does not name', async () => {
    await writeFile(join(dir, 'agents/probe/other.pym'), 'class A:\n  pass\n')
    expect((await check(join(dir, 'agents'))).text).toContain('other.pym:1:1 E001')
    await writeFile(join(dir, 'agents/probe/bundle.yaml'), 'name: [')
    await writeFile(join(dir, 'agents/probe/probe.pym'), 'class A:\n  pass\n')
    const { text, code } = await check(join(dir, 'agents'))
    expect(code).toBe(1)
    expect(text).toContain('agents/probe/probe.pym:1:1 E001')
  })

  it('uses the profile of the bundle, or the one that is asked for', async () => {
    const file = join(dir, 'agents/probe/probe.pym')
    await writeFile(file, 'import json\nf = lambda: json.dumps(1)\nf()\n')
    expect(await check(join(dir, 'agents'), file)).toMatchObject({ code: 1 })
    expect(await check('--profile', 'monty', join(dir, 'agents'), file)).toMatchObject({ code: 0 })
    await writeFile(join(dir, 'agents/probe/bundle.yaml'), `${bundle}profile: monty\n`)
    expect(await check(join(dir, 'agents'), file)).toMatchObject({ code: 0 })
    expect(await check('--profile', 'default', join(dir, 'agents'))).toMatchObject({ code: 1 })
  })

  it('stops when it is interrupted in a script that the type checker never ends, and leaves no process', async () => {
    const processes = () => process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap').length
    const before = processes()
    const loop =
      'x = 1\ny = 2\nwhile x:\n  x = (y, x)\n  y = [x, y]\n  while y:\n    y = {1: x, 2: (y, x)}\n    x = (x, y)\nx\n'
    await writeFile(join(dir, 'loop.pym'), loop)
    const stop = new AbortController()
    const checked = runCheck([join(dir, 'loop.pym')], { signal: stop.signal })
    await until(processes, { holds: (count) => count > before })
    stop.abort(new Error('interrupted'))
    await expect(checked).rejects.toThrow('interrupted')
    await until(processes, { holds: (count) => count === before })
  })

  it('says that a folder holds no bundle', async () => {
    await mkdir(join(dir, 'empty'))
    expect(await check(join(dir, 'empty'))).toMatchObject({
      code: 1,
      text: expect.stringContaining('it holds no bundle'),
    })
  })
})
