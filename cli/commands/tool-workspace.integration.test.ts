import { chmod, readdir, readFile, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  dir,
  head,
  module,
  put,
  readFileStub,
  script,
  toolRun,
  toolRunJson,
  top,
  useProject,
  writeFileStub,
} from './tool-run.fixture.ts'

const ChangedFiles = z.looseObject({ changes: z.array(z.unknown()), diff: z.string() })

useProject()

describe('the workspace of remora tool run', () => {
  const change = `${readFileStub}${writeFileStub}text = await read_file("src/sums.py")\nawait write_file("src/sums.py", text.replace("import os\\n", ""))\nx = await write_file("new dir/a.txt", "a")\nx\n`

  it('is only read: changes are shown as a diff', async () => {
    const { err, code } = await toolRun(await script(change), '--workspace', top)
    expect(code).toBe(0)
    expect(err).toContain('--- a/src/sums.py\n+++ b/src/sums.py\n@@ -1,4 +1,3 @@\n-import os\n')
    expect(err).toContain('2 changed files, not written: --apply writes them to the workspace\n')
    expect(await readFile(join(top, 'src/sums.py'), 'utf8')).toBe(module)
  })

  it('loses and renames files, and changes their modes, as the script did, with --apply', async () => {
    await chmod(await put('project/run.sh', '#!/bin/sh\r\n'), 0o755)
    await put('project/gone/x.txt', 'x')
    const file = await script(`${writeFileStub.replace('str) ->', 'str, executable: bool | None = None) ->')}
@external
async def delete_file(path: str) -> dict[str, Any]: ...
@external
async def rename_file(path: str, new_path: str) -> dict[str, Any]: ...
await rename_file("run.sh", "bin/run.sh")
await delete_file("gone/x.txt")
x = await write_file("src/sums.py", "x = 1\\n", executable=True)
x
`)
    const { changes, diff } = ChangedFiles.parse(await toolRunJson(file, '--workspace', top, '--apply'))
    expect(changes).toEqual([
      { path: 'bin/run.sh', kind: 'create' },
      { path: 'gone/x.txt', kind: 'delete' },
      { path: 'run.sh', kind: 'delete' },
      { path: 'src/sums.py', kind: 'edit' },
    ])
    expect(diff).toContain('new file mode 100755\n')
    expect(diff).toContain('deleted file mode 100755\n')
    expect(diff).toContain('old mode 100644\nnew mode 100755\n')
    expect(await readdir(top)).toEqual(['.gitignore', 'bin', 'secret.txt', 'src'])
    expect(await readFile(join(top, 'bin/run.sh'), 'utf8')).toBe('#!/bin/sh\r\n')
    const modes = await Promise.all(
      ['bin/run.sh', 'src/sums.py'].map(async (path) => (await stat(join(top, path))).mode),
    )
    expect(modes.map((mode) => mode & 0o100)).toEqual([0o100, 0o100])
  })

  it('has the files that a run would send', async () => {
    const file = await script(
      '@external\nasync def list_dir(path: str = "") -> list[str]: ...\n@external\nasync def file_exists(path: str) -> bool: ...\nx = [await list_dir(), await list_dir("src"), await file_exists("secret.txt")]\nx\n',
    )
    expect(await toolRunJson(file, '--workspace', top)).toMatchObject({
      value: [['.gitignore', 'src/'], ['sums.py'], false],
    })
  })

  it.each(['../outside.txt', '/etc/passwd', 'out.txt', 'away/outside.txt', 'src/../../outside.txt', '..\\outside.txt'])(
    'does not lead out of its folder: %s',
    async (path) => {
      await symlink(join(dir, 'outside.txt'), join(top, 'out.txt'))
      await symlink('..', join(top, 'away'))
      const reading = await script(`path: str = Input("path")\n${readFileStub}x = await read_file(path)\nx\n`)
      const given = ['-i', `path=${JSON.stringify(path)}`, '--workspace', top]
      const read = await toolRunJson(reading, ...given)
      expect(read).toMatchObject({ ending: 'raised', type: 'PermissionError', code: 1 })
      const writing = await script(`path: str = Input("path")\n${writeFileStub}x = await write_file(path, "y")\nx\n`)
      expect(await toolRunJson(writing, ...given, '--apply')).toMatchObject({
        ending: 'raised',
        type: 'PermissionError',
      })
      expect(await readFile(join(dir, 'outside.txt'), 'utf8')).toBe('outside')
    },
  )

  it('gives the node, as discovery finds it, to what works on one, and the settings of its bundle to the script', async () => {
    const file = new URL('../../agents/docstring/tools/write_docstring.pym', import.meta.url).pathname
    const args = ['-i', 'docstring=Add two numbers.', '--workspace', top]
    const { err, code } = await toolRun(file, ...args, '--node', 'src/sums.py:add', '--apply')
    expect(err).toContain('+    """Add two numbers."""\n')
    expect(code).toBe(0)
    expect(await readFile(join(top, 'src/sums.py'), 'utf8')).toContain('"""Add two numbers."""')
    expect(await toolRunJson(file, ...args)).toMatchObject({
      ending: 'raised',
      message: 'there is no node to work on: name one with --node PATH[:QUALIFIED_NAME]',
    })
  })

  it('fills in what the host would, unless it is given', async () => {
    const body =
      'settings: dict[str, Any] = Input("settings")\nnode_name: str = Input("node_name")\nnode_text: str = Input("node_text")\nx = [settings, node_name, node_text]\nx\n'
    await put('agents/probe/tools/probe.pym', `${head}${body}`)
    await put(
      'agents/probe/bundle.yaml',
      `name: probe
description: Probes.
node_kinds: [function]
languages: [python]
initial_context: { system_prompt: a, node_context: b }
settings:
  depth: { default: 3 }
tools: [{ builtin: submit_result }]
`,
    )
    const args = [join(dir, 'agents/probe/tools/probe.pym'), '--workspace', top, '--node', 'src/sums.py:add']
    const text = 'def add(one, other):\n    return one + other'
    expect(await toolRunJson(...args)).toMatchObject({ value: [{ depth: 3 }, 'add', text] })
    expect(await toolRunJson(...args, '-i', 'settings={"depth": 9}', '-i', 'node_name=other')).toMatchObject({
      value: [{ depth: 9 }, 'other', text],
    })
  })

  it('tells a program what the script asked of its host and was answered, in order', async () => {
    const file = await script(
      `${readFileStub}try:\n    await read_file("none.py")\nexcept OSError:\n    pass\nx = len(await read_file("src/sums.py"))\nx\n`,
    )
    expect(await toolRunJson(file, '--workspace', top)).toMatchObject({
      code: 0,
      ending: 'returned',
      value: module.length,
      printed: '',
      externals: [
        {
          name: 'read_file',
          args: ['none.py'],
          error: { type: 'FileNotFoundError', message: 'no such file: none.py' },
        },
        { name: 'read_file', args: ['src/sums.py'], answer: module },
      ],
      changes: [],
      diff: '',
      applied: false,
    })
  })
})

describe('remora tool run --artifacts', () => {
  it('adds a log of the run that says the same every time, also where a limit was hit', async () => {
    const file = await script(
      `n: int = Input("n", default=0)\n${readFileStub}print("start")\nx = len(await read_file("src/sums.py"))\nwhile n > 0:\n    n = n + 1\nx\n`,
    )
    const logOf = async (out: string, ...args: string[]) => {
      await toolRun(file, '--workspace', top, '--artifacts', join(dir, out), ...args)
      expect(await readdir(join(dir, out, '_/probe'))).toContain('stubs.pyi')
      return readFile(join(dir, out, '_/probe/run.log'), 'utf8')
    }
    const log = await logOf('one')
    expect(log).toBe(
      `script probe.pym\ncall read_file ["src/sums.py"]\nanswered ${JSON.stringify(module)}\nprinted "start\\n"\nreturned ${module.length}\n`,
    )
    expect(await logOf('two')).toBe(log)
    const stopped = await logOf('three', '-i', 'n=1', '--limits', 'strict')
    expect(stopped).toContain('\nstopped TOOL_003 duration\n')
    expect(await logOf('four', '-i', 'n=1', '--limits', 'strict')).toBe(stopped)
  })
})
