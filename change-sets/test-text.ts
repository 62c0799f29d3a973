import { purposeOf } from '#domain/path-purpose.ts'
import { languageOf } from '#languages/syntax/grammars.ts'

/** An import at the top of a file of tests: `open`, then its names, then `close`; one without a list of names reads `open`. */
export type ImportLine = {
  start: number
  end: number
  module: string
  open: string
  names: string[]
  close: string
  /** The blocks between empty lines are counted from 0; this is the one that it is in. */
  block: number
  /** Is true when it stands after the statement that says where modules are found (`sys.path.insert(…)`). */
  isAfterSetup: boolean
}

/** A file of tests as what comes before its imports, these, where modules are found, and its body, which starts at `bodyStart`. */
export type TestText = {
  preamble: string
  imports: ImportLine[]
  setup: string
  body: string
  bodyStart: number
}

const testable = new Set(['python', 'javascript', 'typescript', 'tsx'])

/** Is true for a file to which several change sets may each add tests of their own. */
export function takesTests(path: string): boolean {
  return testable.has(languageOf(path) ?? '') && purposeOf(path) === 'test'
}

export function isPython(path: string): boolean {
  return languageOf(path) === 'python'
}

type Match = Pick<ImportLine, 'module' | 'open' | 'names' | 'close'>
type Form = { pattern: RegExp; read(groups: readonly (string | undefined)[]): Match }

const pythonForms: readonly Form[] = [
  {
    pattern: /from (\S+) import (?:\(([^()#]*)\)[ \t]*|([^\n()#]+))(#[^\n]*)?\n/y,
    read: ([, module = '', wrapped, plain, comment = '']) => {
      return {
        module,
        open: `from ${module} import `,
        names: namesIn(wrapped ?? plain),
        close: comment === '' ? '' : `  ${comment.trimEnd()}`,
      }
    },
  },
  {
    pattern: /import ([\w.]+)( as \w+)?([ \t]*#[^\n]*)?\r?\n/y,
    read: ([, module = '', as = '', comment = '']) => {
      return { module, open: `import ${module}${as}${comment}`, names: [], close: '' }
    },
  },
]

const scriptForms: readonly Form[] = [
  {
    pattern: /(import(?: type)?) \{([^{}]*)\} from ((['"])([^'"\n]+)\4;?)\r?\n/y,
    read: ([, word = '', names, from = '', , module = '']) => {
      return { module, open: `${word} { `, names: namesIn(names), close: ` } from ${from}` }
    },
  },
  {
    pattern: /const \{([^{}]*)\} = (require\((['"])([^'"\n]+)\3\);?)\r?\n/y,
    read: ([, names, required = '', , module = '']) => {
      return { module, open: 'const { ', names: namesIn(names), close: ` } = ${required}` }
    },
  },
  {
    pattern:
      /((?:import (?:[\w$]+|\* as [\w$]+) from |const [\w$]+ = require\()(['"])([^'"\n]+)\2\)?(?:\.\w+)*;?)\r?\n/y,
    read: ([, open = '', , module = '']) => ({ module, open, names: [], close: '' }),
  },
]

function namesIn(list = ''): string[] {
  return list
    .split(',')
    .map((name) => name.trim().replaceAll(/\s+/g, ' '))
    .filter((name) => name !== '')
}

const preambles = {
  python: /(?:\s+|#[^\n]*\n|("""|''')[\s\S]*?\1|"[^"\n]*"(?=\n))*/y,
  script: /(?:\s+|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/|(['"])use strict\1;?)*/y,
}
const setups = /sys\.path\.(?:insert|append)\([^\n]*\)\r?\n/y
const between = { python: /(?:[ \t]*\r?\n|#[^\n]*\n)+/y, script: /(?:[ \t]*\r?\n|\/\/[^\n]*\n)+/y }

/** Reads the beginning of a file of tests as far as it is imports, empty lines and comments; the rest is its body. */
export function readTestText(path: string, text: string): TestText {
  const kind = isPython(path) ? 'python' : 'script'
  const forms = isPython(path) ? pythonForms : scriptForms
  let at = lengthAt(preambles[kind], text, 0)
  const preamble = text.slice(0, at)
  const imports: ImportLine[] = []
  let [setup, block] = ['', 0]
  let bodyStart = at
  for (;;) {
    const form = formAt(forms, text, at)
    const setupLength = form === undefined && isPython(path) ? lengthAt(setups, text, at) : 0
    if (form !== undefined) {
      imports.push({ ...form.match, start: at, end: at + form.length, block, isAfterSetup: setup !== '' })
      bodyStart = at += form.length
    } else if (setupLength > 0) {
      setup += text.slice(at, at + setupLength)
      bodyStart = at += setupLength
    } else {
      const gap = imports.length + setup.length === 0 ? 0 : lengthAt(between[kind], text, at)
      if (gap === 0) return { preamble, imports, setup, body: text.slice(bodyStart), bodyStart }
      at += gap
      block += 1
    }
  }
}

function formAt(forms: readonly Form[], text: string, at: number): { match: Match; length: number } | undefined {
  for (const { pattern, read } of forms) {
    pattern.lastIndex = at
    const groups = pattern.exec(text)
    if (groups !== null) return { match: read(groups), length: groups[0].length }
  }
  return undefined
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0].length ?? 0
}

/** The name that an entry of an import binds: `b` of `a as b` and of `a: b`. */
export function boundBy({ open, names }: Pick<ImportLine, 'open' | 'names'>): string[] {
  if (names.length > 0) return names.map((name) => name.split(/ as |: */).at(-1) ?? name)
  const plain = /^import (?:type )?(?:\* as )?([\w$]+)(?:[\w.]* as (\w+))?|^const ([\w$]+)/.exec(open)
  return [plain?.[2] ?? plain?.[1] ?? plain?.[3] ?? open]
}

/** The names that a body binds at its top, and the titles of its suites, which a report tells apart by these. */
export function namesInBody(path: string, body: string): string[] {
  const patterns = isPython(path)
    ? [/^(?:async[ \t]+def|def|class)[ \t]+(\w+)/gm, /^(\w+)(?:[ \t]*:[^=\n]+)?[ \t]*=(?!=)/gm]
    : [
        /^(?:export[ \t]+)?(?:async[ \t]+)?(?:function\*?|class|const|let|var)[ \t]+([\w$]+|\{[^{}]*\}|\[[^[\]]*\])/gm,
        /^(?:describe|suite|test|it)\((['"`][^\n]*?['"`]),/gm,
      ]
  const names = patterns.flatMap((pattern) => Array.from(body.matchAll(pattern), ([, name = '']) => name))
  return names.flatMap((name) => (/^[{[]/.test(name) ? (name.match(/[\w$]+/g) ?? []) : name))
}

/** One line, or one for each name where that would be long: so do Black and Prettier. */
export function importText({ open, names, close }: Pick<ImportLine, 'open' | 'names' | 'close'>): string {
  if (names.length === 0) return open
  const line = `${open}${names.join(', ')}${close}`
  if (line.length < 80 || names.includes('*')) return line
  if (open.startsWith('from ')) return `${open}(\n${names.map((name) => `    ${name},\n`).join('')})${close}`
  return `${open.trimEnd()}\n${names.map((name) => `  ${name},\n`).join('')}${close.trimStart()}`
}
