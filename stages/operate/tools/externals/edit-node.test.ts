import { afterAll, describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { openTestLinter } from '#languages/lint/test-linter.fixture.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { openWorkspace } from '../../workspace/open-workspace.ts'
import { openTargetNode } from '../target-node.ts'
import { editNode } from './edit-node.ts'

const linter = await openTestLinter()
afterAll(linter.close)
const deps = { linter, python: await loadLanguage('python') }

type Edit = [text: unknown, startLine?: unknown, endLine?: unknown]

/** `part` of `source` as the node; the whole file where none is named. */
async function opened(source: string, part = source, over: { path?: string; language?: string } = {}) {
  const startByte = Buffer.byteLength(source.slice(0, source.indexOf(part)))
  const workspace = openWorkspace({
    find: () => ({ hash: sha256(source) }),
    kindAt: () => 'file',
    list: () => [],
    read: async () => Buffer.from(source),
  })
  const { node } = aPlannedOperation('f')
  const place = { path: 'a.py', startByte, endByte: startByte + Buffer.byteLength(part), ...over }
  const parentId = part === source ? null : 'n0000000000000000'
  const target = await openTargetNode({ ...node, ...place, parentId }, workspace, { rules: wideRules })
  const edit = editNode(workspace, target, deps)
  return { workspace, edit: async (...args: Edit) => edit(args), textNow: () => workspace.readText(place.path) }
}

/** The file after one edit of the node. */
async function edited(source: string, part: string | undefined, ...args: Edit): Promise<string> {
  const { edit, textNow } = await opened(source, part)
  await edit(...args)
  return textNow()
}

const body = 'def f(x):\n    # ä\n    return not x in []'
const around = (text: string) =>
  `import os  # 😀\n\n\n@os.a\nclass A:\n    pass\n\n\n${text}  # why\n\n\ndef g():\n    f(1)\n`
const method = (text: string) => `class A:\n    """A."""\n\n    ${text}\n\n    y = 2\n\n\nx = 1\n`
const inClass = 'def f(self):\n        if self:\n            return 1\n        return 2'

describe('edit_node', () => {
  it.each([
    ['as it is', body.replace('not x in', 'x not in')],
    ['with an empty line around it', `\n${body.replace('not x in', 'x not in')}\n\n`],
    ['with CRLF', body.replace('not x in', 'x not in').replaceAll('\n', '\r\n')],
  ])('replaces the node by a new text %s, and nothing around it', async (_how, text) => {
    expect(await edited(around(body), body, text)).toBe(around(body.replace('not x in', 'x not in')))
  })

  it('replaces some of its lines, again and again', async () => {
    const { edit, textNow } = await opened(around(body), body)
    expect(await edit('    # ö\n    x += 1\n', 10)).toEqual({ path: 'a.py', lines: 3 })
    expect(await edit('    return x not in []  # why', 12, 12)).toMatchObject({ lines: 1 })
    await edit('', 11, 11)
    expect(await textNow()).toBe(around('def f(x):\n    # ö\n    return x not in []'))
  })

  it.each([
    ['with its indentation', `    ${inClass.replace('return 2', 'return 3')}`],
    ['as the prompt shows it', inClass.replace('return 2', 'return 3')],
  ])('replaces a method by a text %s', async (_how, text) => {
    expect(await edited(method(inClass), inClass, text)).toBe(method(inClass.replace('return 2', 'return 3')))
  })

  it('replaces lines of a method and of a whole file', async () => {
    expect(await edited(method(inClass), inClass, '        return 3\n', 7, 7)).toBe(
      method(inClass.replace('return 2', 'return 3')),
    )
    expect(await edited('import os\nx = 1', undefined, 'x = 2', 2)).toBe('import os\nx = 2')
    expect(await edited('import os\nx = 1\n', undefined, '', 1, 1)).toBe('x = 1\n')
  })

  it('keeps the line ends that the file has, each where it is', async () => {
    const crlf = around(body).replaceAll('\n', '\r\n')
    const part = body.replaceAll('\n', '\r\n')
    const after = around(body.replace('not x in', 'x not in')).replaceAll('\n', '\r\n')
    expect(await edited(crlf, part, body.replace('not x in', 'x not in'))).toBe(after)
    expect(await edited(crlf, part, '    return x not in []  # why', 11, 11)).toBe(after)
    const mixed = `x = 1\ny = 2\r\n${part}\r\nz = 3\n`
    expect(await edited(mixed, part, 'def f(x):\n    # ä\n    return 1')).toBe(
      'x = 1\ny = 2\r\ndef f(x):\r\n    # ä\r\n    return 1\r\nz = 3\n',
    )
    expect(await edited('x = 1\n\ndef f(): return 1\r\n', 'def f(): return 1', 'def f():\n    return 2')).toBe(
      'x = 1\n\ndef f():\n    return 2\r\n',
    )
  })

  it('replaces a node with its decorators', async () => {
    const decorated = `@a\n${body}`
    const source = `x = 1\n\n\n${decorated}\n`
    expect(await edited(source, decorated, decorated.replace('not x in', 'x not in'))).toBe(
      source.replace('not x in', 'x not in'),
    )
  })

  it('leaves a file of another language to the check that it parses', async () => {
    const source = 'function f() { return 1 }\nfunction g() {}\n'
    const other = { path: 'a.js', language: 'javascript' }
    const { edit, textNow } = await opened(source, 'function f() { return 1 }', other)
    await edit('function f() { return 2 }')
    expect(await textNow()).toBe(source.replace('return 1', 'return 2'))
  })
})

describe('edit_node refuses', () => {
  const doubled = `${inClass}\n\n    def h(self):\n        return 1`
  it.each<[string, string, string, Edit, string]>([
    ['nothing', around(body), body, [''], 'the text must be the function f'],
    ['words', around(body), body, ['Here is the new text:'], 'the file would not parse: line 9'],
    ['a fenced text', around(body), body, [`\`\`\`python\n${body}\n\`\`\``], 'the file would not parse: line 9'],
    ['half a text', around(body), body, ['def f(x):\n    return ['], 'the file would not parse'],
    ['another name', around(body), body, [body.replace('def f', 'def h')], 'and not the function h'],
    ['a class for a function', around(body), body, ['class f:\n    x = 1'], 'and not the class f'],
    ['two definitions', around(body), body, [`${body}\n\n\ndef h():\n    return 1`], 'the function f and nothing else'],
    ['an import above', around(body), body, [`import re\n\n\n${body}`], 'the text must be the function f'],
    ['two methods', method(inClass), inClass, [doubled], 'the function f and nothing else'],
    [
      'what leaves the class',
      method(inClass),
      inClass,
      [`${inClass}\n\n\ndef h():\n    x()`],
      'the function f and nothing else',
    ],
    [
      'a function behind the last method',
      `class A:\n    ${inClass}\n`,
      inClass,
      [`${inClass}\n\n\ndef h():\n    x()`],
      'the function f and nothing else',
    ],
    [
      'a method without its indentation',
      method(inClass),
      inClass,
      ['def f(self):\n    return 1'],
      'the node is indented by 4, and so are all lines of its text',
    ],
    [
      'a last line without what stands behind the node',
      around(body),
      body,
      ['    return 1', 11, 11],
      'ends with "  # why"',
    ],
    ['a first line that moves', method(inClass), inClass, ['  def f(self):', 4], 'begins with "    "'],
    [
      'lines above the node',
      around(body),
      body,
      ['x', 8, 9],
      'lines 8 to 9 are not in the node, which has lines 9 to 11',
    ],
    ['lines below it', around(body), body, ['x', 11, 12], 'lines 11 to 12 are not in the node'],
    ['lines that there are none of', around(body), body, ['x', 0, 0], 'lines 0 to 0 are not in the node'],
    ['lines the wrong way round', around(body), body, ['x', 11, 10], 'start_line (11) must be <= end_line (10)'],
    ['an end without a start', around(body), body, ['x', null, 10], 'end_line needs start_line'],
    ['a whole file', 'x = 1\n', 'x = 1\n', ['x = 2\n'], 'name start_line and end_line'],
    ['what is no text', around(body), body, [['def f(x): ...']], 'text must be a string'],
    ['a line that is no number', around(body), body, ['x', '9'], 'start_line must be an integer'],
  ])('%s', async (_what, source, part, args, words) => {
    const { edit, textNow, workspace } = await opened(source, part)
    await expect(edit(...args)).rejects.toThrow(words)
    expect(await textNow()).toBe(source)
    expect(workspace.changedPaths()).toEqual([])
  })

  it('a nesting that no parser takes, and takes the next text', async () => {
    const { edit, textNow } = await opened(around(body), body)
    await expect(edit(`def f(x):\n    return ${'('.repeat(30_000)}`)).rejects.toThrow('the file would not parse')
    expect(await textNow()).toBe(around(body))
    expect(await edit(body)).toMatchObject({ lines: 3 })
  }, 60_000)

  it('no text of a node that did not parse, as long as it gets no worse', async () => {
    const broken = 'def f(x):\n    return [\n'
    const { edit, textNow } = await opened(`x = 1\n${broken}`, broken.trimEnd())
    await edit('def f(x):\n    return (')
    expect(await textNow()).toBe('x = 1\ndef f(x):\n    return (\n')
  })
})
