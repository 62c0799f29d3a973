import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseJson } from '#domain/json.ts'
import { dir, put, script, toolRun, toolRunJson, top, useProject, writeFileStub } from './tool-run.fixture.ts'

useProject()

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
    const { code } = await toolRun(file, '--answer', 'so', '--events-to', join(dir, 'events.jsonl'))
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
    ['an input without =', ['FILE', '-i', 'path'], 2],
    ['an input given twice', ['FILE', '-i', 'n=1', '-i', 'n=2'], 2],
    ['a missing input', ['FILE'], 2],
    ['an input the script does not have', ['FILE', '-i', 'n=1', '-i', '__proto__=1'], 2],
    ['inputs that are no object', ['FILE', '--inputs', 'LIST'], 2],
    ['limits there are not', ['FILE', '-i', 'n=1', '--limits', 'none'], 2],
    ['an unknown option', ['FILE', '-i', 'n=1', '--frobnicate'], 2],
    ['a script that is not there', ['DIR/none.pym'], 1],
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
    expect(err).toContain('1 changed file, not written, because the script failed before its end\n')
    await expect(stat(join(top, 'new.txt'))).rejects.toThrow('ENOENT')
  })

  it('goes on with an answer, and takes only one of the choices that a script gives', async () => {
    const file = await script(
      `@external\nasync def ask_user(question: str, choices: list[str] | None = None) -> str: ...\nx = await ask_user("Which?", ["one", "other"])\nx\n`,
    )
    expect(await toolRun(file, '--answer', 'other')).toMatchObject({ code: 0, out: expect.stringContaining('other') })
    expect((await toolRun(file, '--answer', 'neither')).err).toContain('ASK_005')
  })

  it('uses the profile that is chosen', async () => {
    const file = await script('double = lambda n: n * 2\nx = double(4)\nx\n')
    expect((await toolRun(file)).err).toContain('E012')
    expect(await toolRun(file, '--profile', 'monty')).toMatchObject({ out: '8\n', code: 0 })
  })

  it("notes what is off in the answer of a bundle's tool, and of no other script", async () => {
    const tools = '  - { name: odd, script: tools/odd.pym, description: Odd. }\n  - { builtin: submit_result }\n'
    const prompts = 'initial_context: { system_prompt: a, node_context: b }\n'
    const first = 'name: odd\ndescription: Odd.\nnode_kinds: [function]\nlanguages: [python]\n'
    await put('odd/bundle.yaml', `${first}${prompts}tools:\n${tools}`)
    const answer = 'x = {"result": 1, "outcome": "great"}\nx\n'
    const owned = await toolRun(await put('odd/tools/odd.pym', answer))
    expect(owned.err).toMatch(/^note: .*summary: .*outcome: /)
    expect((await toolRun(await put('alone.pym', answer))).err).toBe('')
  })
})
