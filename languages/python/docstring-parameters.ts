import type { Node, Tree } from 'web-tree-sitter'
import type { DocstringStyle } from '#domain/path-rules.ts'
import { type Described, emptyWording } from '../comments/empty-wording.ts'
import { namesFault } from '../comments/documented-names.ts'
import { codeIn, nodeAround, parameterIn } from './python-nodes.ts'
import { decoratorsOf, docstringContent, docstringSiteOf, type DocstringSite, outermost } from './docstring-site.ts'
import { styleOfDocstring } from './docstring-style.ts'

export type ParameterFacts = {
  name: string
  annotation: string | null
  default: string | null
  kind: 'positional' | 'keyword' | 'var_positional' | 'var_keyword'
}

/** Returns the parameters of a function; of a method without an untyped `self` or `cls` that it is called on. */
export function parametersOf(definition: Node): ParameterFacts[] {
  const facts: ParameterFacts[] = []
  let keywordOnly = false
  for (const node of codeIn(definition.childForFieldName('parameters'))) {
    if (node.type === 'keyword_separator') keywordOnly = true
    const parameter = parameterIn(node)
    if (parameter === undefined) continue
    const { name, type, value, rest } = parameter
    const kind = rest === undefined ? (keywordOnly ? 'keyword' : 'positional') : (`var_${rest}` as const)
    if (kind === 'var_positional') keywordOnly = true
    facts.push({ name, annotation: type?.text ?? null, default: value?.text ?? null, kind })
  }
  const [first, ...rest] = facts
  const isReceiver = first?.annotation === null && ['self', 'cls'].includes(first.name) && isMethod(definition)
  return isReceiver ? rest : facts
}

function isMethod(definition: Node): boolean {
  if (decoratorsOf(definition).some(({ text }) => /^(?:\w+\.)*staticmethod\b/.test(text))) return false
  const scope = nodeAround(outermost(definition).parent, ['class_definition', 'function_definition'])
  return scope?.type === 'class_definition'
}

const sectionOfParameters = '(?:Args|Arguments|Parameters|Keyword Args|Keyword Arguments|Other Parameters)'

/** Returns the parameters that a docstring describes, in order, without stars. */
function parametersIn(content: string, style: DocstringStyle): string[] {
  switch (style) {
    case 'google':
      return entriesOf(content, new RegExp(`^${sectionOfParameters}:$`), 'google')
    case 'numpy':
      return entriesOf(content, new RegExp(`^${sectionOfParameters}$`), 'numpy')
    case 'sphinx': {
      const fields = content.matchAll(/^[ \t]*:(?:param|parameter|arg|argument|key|keyword)[ \t]([^:\n]+):/gm)
      return [...fields].map(([, words = '']) => bareName(words.trim().split(/\s+/).at(-1) ?? ''))
    }
    case 'plain':
      return []
  }
}

function entriesOf(content: string, title: RegExp, style: 'google' | 'numpy'): string[] {
  const names: string[] = []
  const lines = content.split(/\r\n|\r|\n/)
  let depth: { title: number; entry: number | undefined } | undefined
  for (const [at, line] of lines.entries()) {
    const indent = line.length - line.trimStart().length
    const text = line.trim()
    if (text === '' || /^-{3,}$/.test(text)) continue
    const isUnderlined = /^\s*-{3,}\s*$/.test(lines[at + 1] ?? '')
    if (title.test(text) && (style === 'google' || isUnderlined)) depth = { title: indent, entry: undefined }
    else if (depth === undefined) continue
    else if (style === 'numpy' ? isUnderlined : indent <= depth.title) depth = undefined
    else {
      depth.entry ??= indent
      if (indent === depth.entry) names.push(...entryNames(text, style))
    }
  }
  return names
}

/** Replaces the tabs before a line's text by blanks, as Python counts them: a docstring may have both. */
function untabbed(content: string): string {
  return content.replaceAll(/^ *\t[ \t]*/gm, (blanks) => {
    let column = 0
    for (const blank of blanks) column += blank === '\t' ? 8 - (column % 8) : 1
    return ' '.repeat(column)
  })
}

/** Reads the names of an entry: `x (int): …` in Google's style, `x, y : int` in numpy's. */
function entryNames(text: string, style: 'google' | 'numpy'): string[] {
  const head = style === 'google' ? googleHead(text) : (text.split(/:(?:\s|$)/)[0] ?? '')
  return head
    .split(',')
    .map((name) => bareName(name.trim()))
    .filter((name) => /^\w+$/.test(name))
}

/** Returns what stands before the first colon that is not in the brackets of a type. */
function googleHead(text: string): string {
  const head = /^[^:(]*/.exec(text)?.[0] ?? ''
  const rest = text.slice(head.length)
  return rest.startsWith(':') || (rest.startsWith('(') && /\)\s*:/.test(rest)) ? head : ''
}

function bareName(name: string): string {
  return name.replaceAll(/[\\*`]/g, '')
}

/** Says where a docstring does not describe exactly the parameters, in order; undefined where it describes none, and for a class. */
export function parameterFault(site: DocstringSite, content: string): string | undefined {
  if (site.kind === 'class') return undefined
  const text = untabbed(content)
  const documented = parametersIn(text, styleOfDocstring(text))
  const signature = parametersOf(site.definition).map(({ name }) => name)
  return documented.length === 0 ? undefined : namesFault(documented, signature)
}

export type PythonDoc = { line: number; content: string; fault: string | undefined; empty: string | undefined }

/** Lists the docstrings of definitions. Those that are there more often than in `before` are judged; without it, none is. */
export function pythonDocs(tree: Tree, before?: readonly Pick<PythonDoc, 'content'>[]): PythonDoc[] {
  const nodes = tree.rootNode.descendantsOfType(['function_definition', 'class_definition'])
  const docs = nodes.flatMap((node) => {
    const site = docstringSiteOf(node)
    if (site?.docstring === undefined) return []
    return [{ site, content: docstringContent(site.docstring), line: site.docstring.startPosition.row + 1 }]
  })
  const known = Map.groupBy(before ?? docs, ({ content }) => content)
  const now = Map.groupBy(docs, ({ content }) => content)
  return docs.map(({ site, content, line }) => {
    const isJudged = (now.get(content)?.length ?? 0) > (known.get(content)?.length ?? 0)
    const fault = isJudged ? parameterFault(site, content) : undefined
    return { line, content, fault, empty: isJudged ? emptyWording(content, describedBy(site)) : undefined }
  })
}

/** Returns the name and the signature: a docstring should say more than these. */
export function describedBy({ definition, body }: DocstringSite): Described {
  const whole = outermost(definition)
  const name = definition.childForFieldName('name')?.text ?? ''
  return { name, signature: whole.text.slice(0, body.startIndex - whole.startIndex) }
}
