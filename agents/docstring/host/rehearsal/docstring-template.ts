import { unreachable } from '#domain/error.ts'
import {
  type Entry,
  isCommentStyle,
  type Parameter,
  type Section,
  type Signature,
  type CommentStyle,
} from './signature.ts'

/** Fills a template from the signature, and says no more than that. It follows the repository's convention, and has no backslash or `"""`. */
export function docstringFor(signature: Signature): string {
  const { style } = signature
  if (isCommentStyle(style)) return commentFor(summaryFor(signature), sectionsOf(signature), { ...signature, style })
  return [summaryFor(signature), ...layOut(sectionsOf(signature), { ...signature, style })].join('\n\n')
}

/** The summary alone, in one of the shorter forms where there is no room for the first one. */
export function summaryFor(signature: Signature): string {
  const short = [`Handle \`${signature.name}\`.`, 'Do what the name says.']
  const choices = [`${summaryOf(signature)}.`, ...short].map((text) => inVoice(text, signature))
  return choices.find((choice) => choice.length <= signature.summary_characters) ?? 'Do it.'
}

/** First words of names that are read as an imperative; after any other word the name is quoted. */
const verbs = new Set(
  `add append apply build calculate check clean clear close collect compute connect convert copy count create delete
  download emit encode decode ensure execute export extract fetch fill filter find format generate get handle import
  initialize insert install iterate join list load log make merge move normalize open parse print process put raise read
  register reload remove rename render replace reset resolve restore return run save select send set show skip sort split
  start stop store strip test update use validate verify wait walk wrap write`.split(/\s+/),
)
const predicates = new Set(['is', 'has', 'can', 'should', 'must', 'was', 'will'])
const links = new Set(['all', 'as', 'at', 'by', 'for', 'from', 'in', 'into', 'of', 'on', 'or', 'to', 'up', 'with'])

function summaryOf(signature: Signature): string {
  const { name, kind, bases, yields } = signature
  const quoted = `\`${name}\``
  if (typeKinds.has(kind)) {
    const isError = kind === 'class' && [name, ...bases].some((base) => /(?:Error|Exception|Warning)$/.test(base))
    return isError ? `Signal the error ${quoted}` : `Define the ${kind} ${quoted}`
  }
  if (kind === 'constructor') return `Create a ${quoted}`
  if (/^__.+__$/.test(name)) return `Implement ${quoted}`
  if (name.startsWith('test_')) return `Check \`${name.slice('test_'.length)}\``
  if (hasDecorator(signature, 'setter')) return `Set the value of ${quoted}`
  if (hasDecorator(signature, 'deleter')) return `Delete the value of ${quoted}`
  if (hasDecorator(signature, 'property', 'cached_property')) return `Return the value of ${quoted}`
  if (hasDecorator(signature, 'contextmanager', 'asynccontextmanager')) return `Provide the context ${quoted}`
  const fromName = fromWords(signature)
  if (fromName !== undefined) return fromName
  if (yields) return `Yield the results of ${quoted}`
  return returnsSomething(signature) ? `Return the result of ${quoted}` : `Carry out the step ${quoted}`
}

const typeKinds = new Set(['class', 'interface', 'type', 'enum', 'struct', 'trait', 'union', 'record', 'annotation'])

function returnsSomething({ name, returns, returns_value: returnsValue, style }: Signature): boolean {
  if (isCommentStyle(style)) return returnsValue
  return typeof returns === 'string' ? !/(^None|NoReturn|Never)$/.test(returns) : returnsValue && name !== '__init__'
}

/** `get_total_price` → `Get the total price`, `is_empty` → `Return whether it is empty`, `parse` → "Parse `text`". */
function fromWords(signature: Signature): string | undefined {
  // `getTotalPrice` and `parseHTMLText`, too.
  const parted = signature.name.replaceAll(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_')
  const [first = '', ...rest] = parted.toLowerCase().split('_').filter(Boolean)
  const words = rest.join(' ')
  if (predicates.has(first) && rest.length > 0) return `Return whether it ${first} ${words}`
  if (!verbs.has(first)) return undefined
  const verb = `${first.charAt(0).toUpperCase()}${first.slice(1)}`
  if (rest.length > 0) return `${verb} ${links.has(rest[0] ?? '') ? '' : 'the '}${words}`
  const [parameter] = givenParameters(signature)
  return parameter === undefined || parameter.name.startsWith('*') ? verb : `${verb} \`${parameter.name}\``
}

function sectionsOf(signature: Signature): Section[] {
  const isAttribute = hasDecorator(signature, 'property', 'cached_property', 'setter', 'deleter')
  if (typeKinds.has(signature.kind) || /^test(_|$)/.test(signature.name) || isAttribute) return []
  const { yields, raises } = signature
  const type = signature.returns ?? undefined
  const yielded = /^(?:\w+\.)?(?:Async)?Itera(?:tor|ble)\[(.*)\]$/.exec(type ?? '')?.[1]
  const result = { name: '', type, text: 'The result.' }
  const item = { name: '', type: yielded, text: 'The next item.' }
  // The condition for raising is in the body, which the template does not see.
  const raised = [...new Set(raises)].map((name) => ({ name, type: undefined, text: 'Raised in the body.' }))
  const sections: Section[] = [
    {
      title: 'Args',
      entries: givenParameters(signature).map((parameter) =>
        parameterEntry(parameter, isCommentStyle(signature.style) ? '`' : ''),
      ),
    },
    { title: 'Returns', entries: yields || !returnsSomething(signature) ? [] : [result] },
    { title: 'Yields', entries: yields ? [item] : [] },
    { title: 'Raises', entries: raised },
  ]
  return sections.filter(({ entries }) => entries.length > 0)
}

function parameterEntry({ name, annotation, default: fallback, kind }: Parameter, code: '`' | ''): Entry {
  const [bare, type] = [name.replace(/^\*+/, ''), annotation ?? undefined]
  if (kind === 'var_keyword') return { name: `**${bare}`, type, text: 'Additional keyword arguments.' }
  if (kind === 'var_positional') return { name: `*${bare}`, type, text: 'Additional positional arguments.' }
  const shown = fallback?.trim() ?? ''
  const isShown = shown !== '' && shown.length <= 30 && !/\n|["'\\]{3}|\\/.test(shown)
  return { name: bare, type, text: `The value of ${bare}.${isShown ? ` Defaults to ${code}${shown}${code}.` : ''}` }
}

type PythonSignature = Signature & { style: 'google' | 'numpy' | 'sphinx' | 'plain' }

function layOut(
  sections: readonly Section[],
  { style, types, line_characters: width, indent }: PythonSignature,
): string[] {
  const typed = sections.map(({ title, entries }) => ({
    title,
    entries: types ? entries : entries.map((entry) => ({ ...entry, type: undefined })),
  }))
  switch (style) {
    case 'google':
      return typed.map(({ title, entries }) => {
        return [`${title}:`, ...entries.flatMap((entry) => googleEntry(entry, width, indent))].join('\n')
      })
    case 'numpy':
      return typed.map(({ title: given, entries }) => {
        const title = given === 'Args' ? 'Parameters' : given
        const lines = entries.flatMap((entry) => numpyEntry(entry, width, indent))
        return [title, '-'.repeat(title.length), ...lines].join('\n')
      })
    case 'sphinx': {
      const fields = typed.flatMap(({ title, entries }) => entries.flatMap((entry) => sphinxFields(title, entry)))
      const lines = fields.flatMap((pieces) => wrap(pieces, { width, first: '', next: indent }))
      return lines.length === 0 ? [] : [lines.join('\n')]
    }
    case 'plain':
      return []
    default:
      return unreachable(style)
  }
}

function googleEntry({ name, type, text }: Entry, width: number, indent: string): string[] {
  const head = headOf(name, name === '' ? type : type && `${name} (${type})`, width - 2 * indent.length - 1)
  const pieces = head === '' ? text.split(' ') : [`${head}:`, ...text.split(' ')]
  return wrap(pieces, { width, first: indent, next: indent + indent })
}

function numpyEntry({ name, type, text }: Entry, width: number, indent: string): string[] {
  const head = headOf(name, name === '' ? type : type && `${name} : ${type}`, width)
  return [head === '' ? 'object' : head, ...wrap(text.split(' '), { width, first: indent, next: indent })]
}

function headOf(name: string, typed: string | undefined, max: number): string {
  return typed !== undefined && typed.length <= max ? typed : name
}

function sphinxFields(title: Section['title'], { name, type, text }: Entry): string[][] {
  const bare = name.replace(/^\*+/, '')
  const field = { Args: `:param ${bare}:`, Returns: ':returns:', Yields: ':yields:', Raises: `:raises ${name}:` }[title]
  const typeField = title === 'Args' ? `:type ${bare}:` : ':rtype:'
  const fields = [[field, ...text.split(' ')]]
  return type === undefined || title === 'Yields' ? fields : [...fields, [typeField, ...type.split(' ')]]
}

function wrap(
  pieces: readonly string[],
  { width, first, next }: { width: number; first: string; next: string },
): string[] {
  const lines: string[] = []
  let line = `${first}${pieces[0] ?? ''}`
  for (const piece of pieces.slice(1)) {
    if (line.length + 1 + piece.length <= width) line += ` ${piece}`
    else {
      lines.push(line)
      line = `${next}${piece}`
    }
  }
  return [...lines, line]
}

/** The last part of a decorator's name: `functools.cached_property` and `@app.fixture(scope=…)` read alike. */
export function hasDecorator(signature: Signature, ...names: readonly string[]): boolean {
  return signature.decorators.some((decorator) => {
    const name = decorator.replace(/^@/, '').replace(/\(.*$/s, '').split('.').at(-1) ?? ''
    return names.includes(name)
  })
}

function givenParameters(signature: Signature): Parameter[] {
  const unnamed = ['self', '/', '*', ...(hasDecorator(signature, 'classmethod') ? ['cls'] : [])]
  return signature.parameters.filter(({ name }) => !unnamed.includes(name))
}

/** A doc comment for show, as `docstringFor` makes a docstring: the summary, and the tags or sections of the style. */
function commentFor(
  summary: string,
  sections: readonly Section[],
  { style, types }: Signature & { style: CommentStyle },
): string {
  switch (style) {
    case 'tsdoc':
    case 'jsdoc':
    case 'javadoc': {
      const lines = sections.flatMap(({ title, entries }) =>
        entries.map((entry) => tagLine(title, entry, { style, types })),
      )
      return [summary, ...(lines.length === 0 ? [] : [lines.join('\n')])].join('\n\n')
    }
    case 'rustdoc':
    case 'godoc':
      return summary
    default:
      return unreachable(style)
  }
}

type TagStyle = { style: 'tsdoc' | 'jsdoc' | 'javadoc'; types: boolean }

function tagLine(title: Section['title'], { name, type, text }: Entry, { style, types }: TagStyle): string {
  const typed = style === 'jsdoc' && types ? `{${type ?? '*'}} ` : ''
  const dash = style === 'javadoc' ? '' : '- '
  switch (title) {
    case 'Args':
      return `@param ${typed}${name.replace(/^\*+/, '')} ${dash}${text}`
    case 'Returns':
      return `@${style === 'javadoc' ? 'return' : 'returns'} ${typed}${text}`
    case 'Yields':
      return style === 'jsdoc' ? `@yields ${typed}${text}` : `@returns The items, one after the other.`
    case 'Raises':
      return `@throws ${{ tsdoc: `{@link ${name}}`, jsdoc: `{${name}}`, javadoc: name }[style]} ${text}`
    default:
      return unreachable(title)
  }
}

/** Go, Rust and Java describe in the third person; in Go the name comes first. */
function inVoice(summary: string, { style, name, kind }: Signature): string {
  if (!isCommentStyle(style) || style === 'tsdoc' || style === 'jsdoc') return summary
  const [verb = '', ...rest] = summary.split(' ')
  const described = [thirdPerson(verb), ...rest].join(' ')
  if (style !== 'godoc') return described
  // Comments of Go have no mark for code.
  const plain = described.replaceAll('`', '')
  if (plain.startsWith('Defines')) return `${name} is a ${kind} of this package.`
  return `${name} ${plain.charAt(0).toLowerCase()}${plain.slice(1)}`
}

function thirdPerson(verb: string): string {
  const bare = verb.replace(/\.$/, '')
  const dot = bare === verb ? '' : '.'
  if (/(?:s|sh|ch|x|z|o)$/.test(bare)) return `${bare}es${dot}`
  return `${/[^aeiou]y$/.test(bare) ? `${bare.slice(0, -1)}ie` : bare}s${dot}`
}
