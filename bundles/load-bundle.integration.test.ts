import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { endlessScript } from '#tool-scripts/endless-script.fixture.ts'
import { openTypeChecker } from '#tool-scripts/type-checker.ts'
import { loadBundles } from './load-bundle.ts'

const bundle = (name: string) => `name: ${name}
description: Probes.
node_kinds: [function]
languages: [python]
initial_context: { system_prompt: a, node_context: b }
tools:
  - { name: look, script: look.pym, description: Look. }
  - { builtin: submit_result }
`
it('a bundle whose script the type checker never ends is refused by name, and the others are checked', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'bundles-'))
  for (const [name, source] of Object.entries({ endless: endlessScript, wrong: 'x = "a" + 1\nx\n' })) {
    await mkdir(join(dir, name))
    await writeFile(join(dir, name, 'bundle.yaml'), bundle(name))
    await writeFile(join(dir, name, 'look.pym'), source)
  }
  const typeChecker = openTypeChecker({ limitMs: 1_000 })
  const refused: unknown = await loadBundles(dir, { typeChecker }).catch((error: unknown) => error)
  await typeChecker.close()
  await rm(dir, { recursive: true })
  expect(refused).toMatchObject({ code: 'AGENT_001', phase: 'grail_check' })
  expect(String(refused)).toContain('endless/look.pym:1:1 the type checker gave up after 1 s')
  expect(String(refused)).toContain('wrong/look.pym:1:5 ')
})
