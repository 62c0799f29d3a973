import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { sortedKeys } from '#domain/json.ts'
import { loadBundle, loadBundles } from './load-bundle.ts'
import type { BundleDeps } from './read-bundle.ts'

const yaml = `name: probe
description: Probes.
node_kinds: [function]
languages: [python]
initial_context:
  system_prompt: |
    <task_description>Probe in {{ settings.style }} style.</task_description>
    Always respond with a tool call.
  node_context: |
    {{ node_text }}
settings:
  style: { enum: [short, long], default: short }
tools:
  - name: probe
    script: tools/probe.pym
    description: Probe it.
    inputs_override:
      depth: { description: How deep., minimum: 1 }
  - { builtin: submit_result }
`
const script = `from grail import Input

node_text: str = Input("node_text")
depth: int = Input("depth", default=2)
tags: list[str] = Input("tags")
found = [node_text, depth, tags]
found
`
let dir: string

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bundles-'))
})
afterEach(() => rm(dir, { recursive: true }))

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), text)
  }
}

async function load(source: string, deps: BundleDeps = {}, scriptSource = script) {
  await write({ 'probe/bundle.yaml': source, 'probe/tools/probe.pym': scriptSource })
  return loadBundle(join(dir, 'probe'), deps)
}

it('takes a script of a bundle beside it before that of a shipped one, and has its text as its own', async () => {
  const shared = (name: string) => yaml.replace('tools/probe.pym', `../review/tools/${name}.pym`)
  const shipped = (await load(shared('read_code').replace(/ {4}inputs_override:\n.*\n/, ''))).bundle.scripts['probe']
  expect(shipped?.path).toBe('review/tools/read_code.pym')
  expect(shipped?.source).toContain('async def read_file')
  await write({ 'review/tools/read_code.pym': script })
  expect((await load(shared('read_code'))).bundle.scripts['probe']?.source).toBe(script)
})

/** As the object store names a bundle. */
const hashOf = (bundle: AgentBundle) => sha256(JSON.stringify(bundle, sortedKeys))

async function faultOf(loading: Promise<unknown>): Promise<string> {
  const error = await loading.then(
    () => undefined,
    (fault: unknown) => fault,
  )
  if (!(error instanceof AppError)) throw new Error('the bundle was loaded')
  expect(error.code).toBe('AGENT_001')
  return error.message.replaceAll(`${dir}/`, '')
}

describe('loadBundle', () => {
  it("builds a tool's schema from its script and hides what the host fills in", async () => {
    const { bundle, warnings } = await load(yaml)
    expect(warnings).toEqual([])
    expect(bundle.tools.map(({ name }) => name)).toEqual(['probe', 'submit_result'])
    expect(bundle.tools[0]?.parameters).toEqual({
      type: 'object',
      properties: {
        depth: { type: 'integer', default: 2, description: 'How deep.', minimum: 1 },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['tags'],
      additionalProperties: false,
    })
    expect(bundle.hostInputs).toEqual({ probe: ['node_text'] })
    expect(bundle.scripts['probe']).toEqual({ path: 'probe/tools/probe.pym', source: script })
  })

  it('refuses a script that submits, since no worker answers it', async () => {
    const submits =
      'from grail import external\n@external\nasync def submit_result(status: str, summary: str) -> None: ...\nx = await submit_result("success", "")\nx\n'
    const fault = await faultOf(load(yaml, {}, submits))
    expect(fault).toContain('calls submit_result, which in a bundle only the agent does')
  })

  it.each<[string, string, string, string]>([
    [
      'a tool name used twice',
      '  - { builtin: submit_result }',
      '  - { builtin: submit_result }\n  - { builtin: submit_result }',
      '20:5 two tools are named submit_result',
    ],
    ['a missing submit tool', '  - { builtin: submit_result }\n', '', '13:1 no submit tool'],
    ['a script above', 'tools/probe.pym', '../../other/tools/probe.pym', '15:5 there is no script ../../other/tools'],
    [
      'one of no bundle',
      'tools/probe.pym',
      '../none/tools/probe.pym',
      '15:5 there is no script ../none/tools/probe.pym beside',
    ],
    ['a missing script', 'tools/probe.pym', 'tools/none.pym', '15:5 there is no script tools/none.pym'],
    ['a missing key', 'description: Probes.\n', '', '1:1 description: is missing, and must be a text'],
    [
      'an unknown key of a tool',
      '    description: Probe it.',
      '    description: Probe it.\n    risky: true',
      '17:5 unknown key tools.0.risky: known are ',
    ],
    ['a wrong type', 'node_kinds: [function]', 'node_kinds: function', '3:1 node_kinds: must be a list'],
    ['broken YAML', 'node_kinds: [function]', 'node_kinds: [function', '4:'],
    ['an unknown variable', '{{ node_text }}', 'a\n    {{ node_txt }}', '11:8 node_context: unknown variable node_txt'],
    [
      'an unknown setting',
      'settings.style }}',
      'settings.tone }}',
      '7:35 system_prompt: unknown setting settings.tone',
    ],
    ['an override of an unknown input', 'depth: {', 'deep: {', '18:7 inputs_override names deep'],
    ['a default that is no choice', 'default: short', 'default: tiny', '12:33 the default of style'],
  ])('refuses %s and says where', async (_name, good, bad, fault) => {
    const message = await faultOf(load(yaml.replace(good, bad)))
    expect(message).toContain('probe/bundle.yaml:')
    expect(message).toContain(fault)
  })

  it.each([
    ['colour: red', '3:1 unknown key colour: known are name, '],
    ['limits: { max_turn: 3 }', '3:11 unknown key limits.max_turn: did you mean max_turns?'],
    ['limits: { timeout_s: 9999999 }', '3:11 limits.timeout_s: Too big: expected number to be <=604800'],
  ])('refuses the key %s', async (key, fault) => {
    expect(await faultOf(load(yaml.replace('node_kinds', `${key}\nnode_kinds`)))).toContain(`yaml:${fault}`)
  })

  it('refuses a script that breaks a rule, with the line of the script', async () => {
    const message = await faultOf(load(yaml, {}, `${script}class A:\n  pass\n`))
    expect(message).toBe('probe/tools/probe.pym:8:1 classes are not available in tool scripts; use dicts')
  })

  it('names every fault at once', async () => {
    const broken = yaml.replace('{{ node_text }}', '{{ a }}{{ b }}').replace('  - { builtin: submit_result }\n', '')
    expect((await faultOf(load(broken))).split('\n')).toHaveLength(3)
  })

  it('refuses node kinds that no query pack finds, where it knows them', async () => {
    const nodeKinds = new Set(['class'])
    expect(await faultOf(load(yaml, { nodeKinds }))).toContain('3:14 no query pack finds nodes of kind function')
    const near = new Set(['functions'])
    expect(await faultOf(load(yaml, { nodeKinds: near }))).toContain('kind function; did you mean functions?')
  })

  it('refuses languages that there are not, where it knows them', async () => {
    const languages = new Set(['pythons'])
    expect(await faultOf(load(yaml, { languages }))).toContain('there is no language python; did you mean pythons?')
  })

  it('warns about an override that changes what the script decides, and keeps the script', async () => {
    const { bundle, warnings } = await load(yaml.replace('minimum: 1', 'type: string, default: 3'))
    expect(warnings.map(({ line, message }) => `${line} ${message}`)).toEqual([
      "18 inputs_override of depth changes its type; the script's own is kept",
      "18 inputs_override of depth changes its default; the script's own is kept",
    ])
    expect(bundle.tools[0]?.parameters['properties']).toMatchObject({ depth: { type: 'integer', default: 2 } })
  })

  it('warns about stray properties and about a prompt without its marks', async () => {
    const source = yaml
      .replace('minimum: 1', 'properties: {}')
      .replace('<task_description>', '')
      .replace('a tool call', 'care')
    const { warnings } = await load(source)
    expect(warnings.map(({ message }) => message)).toEqual([
      'probe.depth has properties under a type other than object',
      'the system prompt has no <task_description>',
      'the system prompt does not say to respond with a tool call',
    ])
  })

  it('lets prompts name what is known beside the node, and warns where that stays empty', async () => {
    const naming = yaml.replace(
      '{{ node_text }}',
      '{{ node_text }} {{ earlier_results }}{{ related_code }}{{ last_error }}',
    )
    expect((await load(naming)).warnings).toEqual([])
    const { warnings } = await load(`${naming.replace('{{ last_error }}', '')}requires_context: false\n`)
    expect(warnings.map(({ message }) => message)).toEqual([
      'node_context: earlier_results stays empty, since requires_context is false',
      'node_context: related_code stays empty, since requires_context is false',
    ])
  })

  it('gives equal bundles one hash, and any change another', async () => {
    const hash = hashOf((await load(yaml)).bundle)
    const moved = yaml.replace(
      'node_kinds: [function]\nlanguages: [python]',
      'languages: [python]\nnode_kinds: [function]',
    )
    expect(hashOf((await load(moved)).bundle)).toBe(hash)
    expect(hashOf((await load(yaml, {}, `${script}\n`)).bundle)).not.toBe(hash)
  })

  it('leaves what a folder has for the services out of the bundle and its hash', async () => {
    const hash = hashOf((await load(yaml)).bundle)
    await write({ 'probe/host/survey.ts': 'export const probed = 1\n', 'probe/host/survey/a.ts': '' })
    expect(hashOf((await load(yaml)).bundle)).toBe(hash)
  })
})

describe('loadBundles', () => {
  const named = (name: string, after: string) => yaml.replace('name: probe', `name: ${name}\nafter: [${after}]`)

  it('loads every folder with a bundle, by name, besides those of Remora, which they may wait for and replace', async () => {
    await write({
      'first-1/bundle.yaml': named('first-1', 'lint, docstring'),
      'first-1/tools/probe.pym': script,
      'lint/bundle.yaml': named('lint', ''),
      'lint/tools/probe.pym': script,
      'notes/readme.md': '',
    })
    const loaded = await loadBundles(dir)
    const shipped = ['docstring', 'harness', 'lint', 'researcher', 'review', 'sample_data', 'terminal', 'test']
    expect([...loaded.keys()]).toEqual([...shipped, 'first-1'].toSorted())
    expect(loaded.get('lint')).toMatchObject({ dir: join(dir, 'lint'), bundle: { file: { description: 'Probes.' } } })
    expect([...(await loadBundles(undefined)).keys()]).toEqual([...loaded.keys()].filter((name) => name !== 'first-1'))
  })

  it('refuses an unknown after and a circle', async () => {
    await write({ 'first/bundle.yaml': named('first', 'second, third'), 'first/tools/probe.pym': script })
    await write({ 'second/bundle.yaml': named('second', 'first'), 'second/tools/probe.pym': script })
    const message = await faultOf(loadBundles(dir))
    expect(message).toContain('first/bundle.yaml:2:17 after names third')
    expect(message).toContain('second/bundle.yaml:2:1 second waits for itself')
  })

  it('takes a name in after_optional that is no bundle, but not its own, nor one that is in after, too', async () => {
    const optional = (name: string) => yaml.replace('name: probe', `name: probe\nafter_optional: [${name}]`)
    await write({ 'probe/bundle.yaml': optional('elsewhere'), 'probe/tools/probe.pym': script })
    expect([...(await loadBundles(dir)).keys()]).toContain('probe')
    await write({ 'probe/bundle.yaml': optional('probe') })
    expect(await faultOf(loadBundles(dir))).toContain('probe waits for itself')
    await write({ 'probe/bundle.yaml': optional('other').replace('after_optional', 'after: [other]\nafter_optional') })
    expect(await faultOf(loadBundle(join(dir, 'probe')))).toContain('other is named in after, too')
  })

  it('refuses a bundle whose folder has another name: the folder is what requests name', async () => {
    await write({ 'probe/bundle.yaml': named('other', ''), 'probe/tools/probe.pym': script })
    const fault = 'probe/bundle.yaml:1:1 the name other differs from that of its folder, probe'
    expect(await faultOf(loadBundles(dir))).toBe(fault)
    expect(await faultOf(loadBundle(join(dir, 'probe/')))).toBe(fault)
  })

  it('says which folder cannot be read', async () => {
    const message = `there is no folder ${join(dir, 'none')}: make it, or mend the setting agents.dir (REMORA_AGENTS_DIR)`
    const missing = { code: 'CONFIG_001', message }
    await expect(loadBundles(join(dir, 'none'))).rejects.toMatchObject(missing)
  })
})
