import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { openTestPythonLinter } from '../../lint/test-linter.fixture.ts'
import { testRuff } from '#testing/test-ruff.ts'
import { wideRules } from '../../lint/wide-rules.fixture.ts'
import { openPythonLinter } from './python-linter.ts'
import { readFixture } from '../../lint/read-repository.fixture.ts'

const scratch = mkdtempSync(join(tmpdir(), 'remora-test-'))
afterAll(() => rmSync(scratch, { recursive: true }))

/** Runs `words` before the real Ruff starts. */
async function wrapped(name: string, words: string) {
  const { path, version } = await testRuff()
  const own = join(scratch, name)
  writeFileSync(own, `#!/bin/sh\n${words}\nexec "${path}" "$@"\n`, { mode: 0o755 })
  return { path: own, version: version ?? '' }
}

function manyModules(count: number) {
  const modules = Array.from({ length: count }, (_, at) => `shop_${at % 100}/m${at}.py`)
  return { files: { 'ruff.toml': 'line-length = 99\n' }, modules }
}

describe('the process of Ruff', () => {
  it('sees nothing of the environment, and no configuration of the user or of this machine', async () => {
    process.env['RUFF_SECRET'] = 'seen'
    const ruff = await wrapped('env', `env > ${scratch}/env.txt`)
    const linter = openPythonLinter({ ruff })
    await linter.lint('import os\n', wideRules.lint)
    delete process.env['RUFF_SECRET']
    await linter.close()
    const env = readFileSync(join(scratch, 'env.txt'), 'utf8')
    expect(env).not.toContain('seen')
    const ownFolder = /^XDG_CONFIG_HOME=(.*)$/m.exec(env)?.[1] ?? ''
    expect(ownFolder).toContain(join(tmpdir(), 'remora-ruff-'))
  })

  it('is started again when it ends before it is ready, also while a large tree is laid for it', async () => {
    const twice = ['died', 'again'].map((name) => `if mkdir ${scratch}/${name} 2>/dev/null; then exit 9; fi`)
    const linter = openPythonLinter({ ruff: await wrapped('mortal', `[ "$1" = check ] || { ${twice.join('; ')}; }`) })
    expect(await linter.trees.settingsIn(manyModules(2_000), '')).not.toHaveProperty('refusal')
    await linter.close()
  })

  it('tells why it does not start, and not what the end of its folder has broken', async () => {
    const linter = openPythonLinter({
      ruff: await wrapped('broken', '[ "$1" = check ] || { echo no room >&2; exit 9; }'),
    })
    await expect(linter.trees.settingsIn(manyModules(2_000), '')).rejects.toMatchObject({
      code: 'TOOL_004',
      message: 'Ruff does not tell its settings: exit code 9 no room',
    })
    await expect(linter.lint('import os\n', wideRules.lint)).rejects.toMatchObject({
      code: 'TOOL_006',
      message: 'the file cannot be linted: exit code 9 no room',
    })
    await linter.close()
  })

  it('may take long to lay a large tree, and is given up only when it stands still', async () => {
    const slow = openPythonLinter({ ruff: await wrapped('slow', ''), limitMs: 700 })
    expect(await slow.trees.settingsIn(manyModules(8_000), '')).not.toHaveProperty('refusal')
    await slow.close()
    const stuck = openPythonLinter({ ruff: await wrapped('stuck', 'sleep 60'), limitMs: 200 })
    await expect(stuck.trees.settingsIn(manyModules(10), '')).rejects.toMatchObject({
      message: 'Ruff does not tell its settings: its start made no progress for 0.2 s',
    })
    await stuck.close()
  })

  it('leaves no folder behind when it is closed while a tree is laid for it', async () => {
    const own = mkdtempSync(join(scratch, 'closed-'))
    const { TMPDIR } = process.env
    process.env['TMPDIR'] = own
    onTestFinished(() => {
      if (TMPDIR === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = TMPDIR
    })
    const linter = await openTestPythonLinter()
    const modules = Array.from({ length: 2000 }, (_, at) => [`shop_${at}/a.py`, ''])
    const asked = readFixture({ 'ruff.toml': 'line-length = 99\n', ...Object.fromEntries(modules) }, linter)
    asked.catch(() => undefined)
    await new Promise((resolve) => setImmediate(resolve))
    await linter.close()
    await expect(asked).rejects.toMatchObject({ code: 'AGENT_010' })
    expect(readdirSync(own)).toEqual([])
  })

  it('is missed in one sentence with what to do, also by a repository', async () => {
    const linter = openPythonLinter({ ruff: { lack: 'there is no Ruff: install Ruff' } })
    await expect(linter.lint('import os\n', wideRules.lint)).rejects.toMatchObject({
      code: 'TOOL_005',
      message: 'Python cannot be linted: there is no Ruff: install Ruff',
    })
    const { notices, rulesFor } = await readFixture(
      { 'ruff.toml': 'line-length = 99\n', 'a.py': 'import os\n' },
      linter,
    )
    expect(notices).toEqual(['Python is not linted: there is no Ruff: install Ruff'])
    expect(rulesFor('a.py').lint.source).toBe('default')
    await linter.close()
  })

  it('finds a fault that a change brings where the repository allows the same elsewhere', async () => {
    const linter = await openTestPythonLinter()
    const config = 'lint.select = ["F"]\n[lint.per-file-ignores]\n"tests/*" = ["F401"]\n'
    const { rulesFor } = await readFixture({ 'ruff.toml': config, 'a.py': '', 'tests/a.py': '' }, linter)
    const count = async (path: string, text: string) =>
      (await linter.lint(text, rulesFor(path).lint)).diagnostics.length
    const [before, after] = ['import os\nos.sep\n', 'import os\nimport sys\nos.sep\n']
    expect([await count('a.py', before), await count('a.py', after)]).toEqual([0, 1])
    expect([await count('tests/a.py', before), await count('tests/a.py', after)]).toEqual([0, 0])
    await linter.close()
  })
})
