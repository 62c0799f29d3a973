import { mayBeNounPhrase } from './noun-phrase.ts'
import { givenParameters, hasDecorator, type Parameter, type Signature } from './signature.ts'
import { conditionOf, objectOf, summaryPhrase } from './summary-phrase.ts'
import { isPlural, wordsOfName } from './words-of-name.ts'

/** A line of a section: the name or type it is about, and what is said of it. */
export type Entry = { label: string; type: string | undefined; text: string }

/** A docstring before it is laid out in a style. Sections that would say nothing are empty. */
export type DocstringParts = {
  summary: string
  parameters: Entry[]
  returns: Entry | undefined
  yields: Entry | undefined
  raises: Entry[]
}

/** The docstring's content. Classes, tests and properties are described by their summary alone. */
export function docstringParts(signature: Signature): DocstringParts {
  const summary = summaryPhrase(signature)
  const alone = signature.kind === 'class' || /^test(_|$)/.test(signature.name) || isAttributeLike(signature)
  if (alone) return { summary, parameters: [], returns: undefined, yields: undefined, raises: [] }
  return {
    summary,
    parameters: givenParameters(signature).map(parameterEntry),
    returns: signature.yields ? undefined : returnsEntry(signature),
    yields: signature.yields ? yieldsEntry(signature) : undefined,
    raises: [...new Set(signature.raises)].map(raisesEntry),
  }
}

function isAttributeLike(signature: Signature): boolean {
  return hasDecorator(signature, 'property', 'cached_property', 'setter', 'deleter')
}

function parameterEntry(parameter: Parameter): Entry {
  const type = parameter.annotation ?? undefined
  const kind = (parameter.kind ?? '').toLowerCase()
  const bare = parameter.name.replace(/^\*+/, '')
  if (parameter.name.startsWith('**') || /var_?keyword|kwargs|dictionary_splat/.test(kind)) {
    return { label: `**${bare}`, type, text: 'Additional keyword arguments.' }
  }
  if (parameter.name.startsWith('*') || /var_?positional|varargs|list_splat/.test(kind)) {
    return { label: `*${bare}`, type, text: 'Additional positional arguments.' }
  }
  return { label: bare, type, text: `${parameterText(parameter)}${defaultText(parameter.default)}` }
}

function parameterText({ name, annotation, default: fallback }: Parameter): string {
  const words = wordsOfName(name)
  const phrase = words.join(' ')
  const isFlag = annotation === 'bool' || fallback === 'True' || fallback === 'False'
  if (isFlag) return `The ${phrase} flag.`
  return mayBeNounPhrase(words) ? `The ${phrase}.` : `The value of ${name}.`
}

function defaultText(fallback: string | null | undefined): string {
  const shown = fallback?.trim()
  const sayable =
    shown !== undefined && shown !== '' && shown.length <= 30 && !shown.includes('\n') && !/["'\\]{3}|\\/.test(shown)
  return sayable ? ` Defaults to ${shown}.` : ''
}

function returnsEntry(signature: Signature): Entry | undefined {
  const type = signature.returns ?? undefined
  const nothing =
    type === undefined ? !signature.returns_value : /^(None|NoReturn|Never)$|\.(NoReturn|Never)$/.test(type)
  if (nothing || (signature.name === '__init__' && type === undefined)) return undefined
  return { label: '', type, text: returnsText(signature) }
}

function returnsText(signature: Signature): string {
  const condition = conditionOf(signature)
  if (condition !== undefined) return `True if ${condition}, False otherwise.`
  if (signature.name.startsWith('__')) return 'The result.'
  const [verb] = wordsOfName(signature.name)
  const names = verb === undefined ? undefined : objectOf(signature)
  const telling =
    /^(get|fetch|find|load|read|compute|calculate|build|create|make|generate|count|list|lookup|retrieve|select)$/
  if (names !== undefined && (telling.test(verb ?? '') || names === `the ${wordsOfName(signature.name).join(' ')}`)) {
    return `${names.charAt(0).toUpperCase()}${names.slice(1)}.`
  }
  return 'The result.'
}

function yieldsEntry(signature: Signature): Entry {
  const inner = /^(?:\w+\.)?(?:Async)?(?:Iterator|Iterable|Generator)\[(.*)\]$/.exec(signature.returns ?? '')?.[1]
  const last = wordsOfName(signature.name).at(-1) ?? ''
  const item = isPlural(last) && !/ies$|sses$|xes$|ches$/.test(last) ? last.slice(0, -1) : 'item'
  return { label: '', type: inner === undefined ? undefined : firstTypeArgument(inner), text: `The next ${item}.` }
}

/** `int, None, str` → `int`, but `tuple[str, int]` whole. */
function firstTypeArgument(list: string): string {
  let depth = 0
  for (const [at, character] of list.split('').entries()) {
    if (character === '[') depth += 1
    if (character === ']') depth -= 1
    if (character === ',' && depth === 0) return list.slice(0, at).trim()
  }
  return list.trim()
}

/** When it is raised stands in the body, which the rules do not read. */
function raisesEntry(name: string): Entry {
  return { label: name, type: undefined, text: 'Raised in the body.' }
}
