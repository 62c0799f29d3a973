import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CommanderError } from 'commander'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { readCliConfig } from '../config.ts'
import { describeFailure } from '../describe-failure.ts'
import { buildProgram } from '../program.ts'

const head = 'from typing import Any\nfrom grail import Input, external\n'
const writeFileStub = '@external\nasync def write_file(path: str, content: str) -> dict[str, Any]: ...\n'
const readFileStub = '@external\nasync def read_file(path: str) -> str: ...\n'
const module = 'import os\n\n\ndef add(one, other):\n    return one + other\n'

let dir = ''
let top = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tool-run-'))
  top = join(dir, 'project')
  await put('project/src/sums.py', module)
  await put('project/.gitignore', 'secret.txt\n')
  await put('project/secret.txt', 'hidden')
  await put('outside.txt', 'outside')
})
afterEach(() => rm(dir, { recursive: true, force: true }))

async function put(path: string, text: string): Promise<string> {
  await mkdir(dirname(join(dir, path)), { recursive: true })
  await writeFile(join(dir, path), text)
  return join(dir, path)
}

const script = (body: string): Promise<string> => put('probe.pym', `${head}${body}`)

type Said = { out: string; err: string; code: number }

/** The command as `main` runs it, with its exit code. */
async function toolRun(...args: string[]): Promise<Said> {
  const said: Said = { out: '', err: '', code: 0 }
  const io = {
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
    exit: (code: number) => void (said.code = code),
  }
  const signal = new AbortController().signal
  const context = { io, config: readCliConfig({}), signal, terminal: undefined, colored: false, cwd: dir }
  try {
    await buildProgram(context).parseAsync(['tool', 'run', ...args], { from: 'user' })
  } catch (error) {
    said.code = error instanceof CommanderError ? 2 : 1
    if (said.code === 1) said.err += describeFailure(error).text
  }
  return { ...said, err: said.err.replaceAll(`${dir}/`, '') }
}

const Document = z.looseObject({ ending: z.string(), value: z.unknown(), externals: z.array(z.unknown()) })

async function toolRunJson(...args: string[]) {
  const { out, code } = await toolRun(...args, '--json')
  return { ...Document.parse(parseJson(out)), code }
}

describe('remora tool run', () => {
  it('prints the value alone to stdout, and what the script prints and logs to stderr', async () => {
    const file = await script(
      `n: int = Input("n")\n@external\nasync def log(message: str) -> None: ...\nprint("twice")\nawait log("now")\nx = {"n": n * 2}\nx\n`,
    )
    expect(await toolRun(file, '-i', 'n=4')).toEqual({ out: '{\n  "n": 8\n}\n', err: 'log: now\ntwice\n', code: 0 })
  })

  it('takes inputs as JSON, as bare text where a string is declared, from a file, and -i before the file', async () => {
    const file = await script(
      'name: str = Input("name")\nnote: str | None = Input("note", default=None)\ntags: list[str] = Input("tags", default=[])\nx = [name, note, tags]\nx\n',
    )
    const inputs = await put('inputs.json', '{"name": "of the file", "tags": ["a", "b"]}')
    expect(await toolRunJson(file, '-i', 'name=Zoë = 1', '-i', 'note="7"')).toMatchObject({
      value: ['Zoë = 1', '7', []],
    })
    expect(await toolRunJson(file, '--inputs', inputs)).toMatchObject({ value: ['of the file', null, ['a', 'b']] })
    expect(await toolRunJson(file, '--inputs', inputs, '-i', 'name=mine')).toMatchObject({
      value: ['mine', null, ['a', 'b']],
    })
  })

  it('writes what each run took to a file, a run for every answer', async () => {
    const file = await script(
      `@external\nasync def ask_user(question: str) -> str: ...\nprint("ab")\nx = await ask_user("Why?")\nx[9]\n`,
    )
    const { code } = await toolRun(file, '--answer', 'so', '--events', join(dir, 'events.jsonl'))
    const lines = (await readFile(join(dir, 'events.jsonl'), 'utf8')).trimEnd().split('\n')
    const start = { type: 'run_start', path: file, inputs: 0, externals: 1 }
    const figures = { path: file, wall_ms: expect.any(Number), processes: 1 }
    expect(code).toBe(1)
    expect(lines.map((line) => parseJson(line))).toEqual([
      { ...start, replayed: 0 },
      { type: 'run_suspended', ...figures, own_ms: null, printed_chars: null, external_calls: 0 },
      { ...start, replayed: 1 },
      {
        type: 'run_error',
        ...figures,
        code: 'TOOL_004',
        error: 'IndexError: string index out of range',
        own_ms: expect.any(Number),
        printed_chars: 3,
        external_calls: 1,
      },
    ])
  })

  it('opens the file for events before the script does anything', async () => {
    const file = await script('x = 1\nx\n')
    const { out, err, code } = await toolRun(file, '--events', join(dir, 'missing/events.jsonl'))
    expect({ out, code }).toEqual({ out: '', code: 1 })
    expect(err).toContain('CONFIG_003')
  })

  it('names every missing, unknown, unreadable and mistyped input at once, with what is declared', async () => {
    const file = await script(
      'count: int = Input("count")\nname: str = Input("name")\ntags: list[str] = Input("tags")\nnode_text: str = Input("node_text")\nx = [count, name, tags, node_text]\nx\n',
    )
    const { out, err, code } = await toolRun(file, '-i', 'count=three', '-i', 'nam=x', '-i', 'tags=[1]', '-i', 'name=3')
    expect({ out, code }).toEqual({ out: '', code: 2 })
    expect(err).toBe(
      'remora: TOOL_002 probe.pym: no input is named "nam" (did you mean name?); ' +
        'input count is int, and "three" is no JSON; input node_text: str is missing (--node would bring it); ' +
        `expected name to be a string, got: integer (for the text, write -i 'name="3"'); ` +
        'expected tags[0] to be a string, got: integer; ' +
        'the inputs are count: int, name: str, tags: list[str], node_text: str\n',
    )
  })

  it.each([
    ['no file', [], 2],
    ['an input without =', ['FILE', '-i', 'path'], 2],
    ['an input without a name', ['FILE', '-i', '=3'], 2],
    ['an input given twice', ['FILE', '-i', 'n=1', '-i', 'n=2'], 2],
    ['a missing input', ['FILE'], 2],
    ['an input the script does not have', ['FILE', '-i', 'n=1', '-i', '__proto__=1'], 2],
    ['inputs that are no object', ['FILE', '--inputs', 'LIST'], 2],
    ['limits there are not', ['FILE', '-i', 'n=1', '--limits', 'none'], 2],
    ['an unknown option', ['FILE', '-i', 'n=1', '--frobnicate'], 2],
    ['a script that is not there', ['DIR/none.pym'], 1],
    ['a script that is a folder', ['DIR'], 1],
    ['inputs that are not there', ['FILE', '--inputs', 'DIR/none.json'], 1],
    ['a workspace that is a file', ['FILE', '-i', 'n=1', '--workspace', 'FILE'], 1],
    ['a node of no file', ['FILE', '-i', 'n=1', '--workspace', 'DIR', '--node', 'none.py:f'], 1],
    ['a node out of the workspace', ['FILE', '-i', 'n=1', '--workspace', 'DIR', '--node', '../a.py'], 1],
    [
      'a node that is not in its file',
      ['FILE', '-i', 'n=1', '--workspace', 'DIR', '--node', 'project/src/sums.py:ad'],
      1,
    ],
  ])('refuses %s', async (_what, args, exit) => {
    const file = await script('n: int = Input("n")\nn\n')
    const places: Record<string, string> = { FILE: file, DIR: dir, LIST: await put('list.json', '[1]') }
    const named = args.map((arg) => arg.replace(/FILE|DIR|LIST/, (word) => places[word] ?? word))
    const { out, err, code } = await toolRun(...named)
    expect({ out, code }).toEqual({ out: '', code: exit })
    expect(err).toMatch(exit === 2 ? /^(?:error: |remora: TOOL_002 )/ : /^remora: [A-Z]+_\d{3} [^\n]+\n$/)
  })

  it('refuses a script with faults in the words of remora check', async () => {
    const { err, code } = await toolRun(await script('class A:\n    pass\nopen("x")\n'))
    expect(code).toBe(1)
    expect(err).toContain(
      'probe.pym:3:1 E001 classes are not available in tool scripts; use dicts\n    class A:\n    ^\n',
    )
  })

  it('shows the line of an exception, its text and the way there, and writes nothing', async () => {
    const file = await script(
      `${writeFileStub}def first(text: str) -> str:\n    return text.split()[5]\n\nawait write_file("new.txt", "x")\nx = first("a b")\nx\n`,
    )
    const { out, err, code } = await toolRun(file, '--workspace', top, '--apply')
    expect({ out, code }).toEqual({ out: '', code: 1 })
    expect(err).toContain('probe.pym:6: IndexError: list index out of range\nTraceback (most recent call last):\n')
    expect(err).toContain('  probe.pym:9 in <module>\n    x = first("a b")\n  probe.pym:6 in first\n')
    expect(err).toContain('1 changed file, not written, since the script did not come to its end\n')
    await expect(stat(join(top, 'new.txt'))).rejects.toThrow('ENOENT')
  })

  it('names the limit that was hit', async () => {
    const file = await script('n = 1\nwhile n > 0:\n    n = n + 1\nn\n')
    const { err, code } = await toolRun(file, '--limits', 'strict')
    expect(code).toBe(1)
    expect(err).toMatch(/^probe\.pym: stopped: TOOL_003 .*\(limit: duration\)\n$/)
  })
})

describe('the workspace of remora tool run', () => {
  const change = `${readFileStub}${writeFileStub}text = await read_file("src/sums.py")\nawait write_file("src/sums.py", text.replace("import os\\n", ""))\nx = await write_file("new dir/a.txt", "a")\nx\n`

  it('is only read: changes are shown as a diff', async () => {
    const { err, code } = await toolRun(await script(change), '--workspace', top)
    expect(code).toBe(0)
    expect(err).toContain('--- a/src/sums.py\n+++ b/src/sums.py\n@@ -1,4 +1,3 @@\n-import os\n')
    expect(err).toContain('2 changed files, not written: --apply writes them to the workspace\n')
    expect(await readFile(join(top, 'src/sums.py'), 'utf8')).toBe(module)
  })

  it('takes the changes with --apply, and keeps the permissions of a file', async () => {
    await chmod(join(top, 'src/sums.py'), 0o750)
    const { err, code } = await toolRun(await script(change), '--workspace', top, '--apply')
    expect({ code, told: err.endsWith('2 changed files written to the workspace\n') }).toEqual({ code: 0, told: true })
    expect(await readFile(join(top, 'src/sums.py'), 'utf8')).toBe(module.replace('import os\n', ''))
    expect(await readFile(join(top, 'new dir/a.txt'), 'utf8')).toBe('a')
    expect((await stat(join(top, 'src/sums.py'))).mode & 0o777).toBe(0o750)
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
    const source = await readFile(new URL('../../agents/docstring/tools/write_docstring.pym', import.meta.url).pathname)
    const file = await put('write.pym', source.toString())
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

  it('gives a script the file of its node as `files`', async () => {
    const file = await script('files: dict[str, str] = Input("files")\nfiles\n')
    const args = ['--workspace', top, '--node', 'src/sums.py:add']
    expect(await toolRunJson(file, ...args)).toMatchObject({ value: { 'src/sums.py': module } })
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
