import { givenParameters, hasDecorator, type Signature } from './signature.ts'
import { dunderSummaries } from './dunder-summaries.ts'
import { imperativeOf } from './verbs.ts'
import { indefiniteArticle, isPlural, wordsOfName } from './words-of-name.ts'

const predicateVerbs = new Set(['is', 'are', 'has', 'have', 'can', 'could', 'should', 'must', 'was', 'will', 'needs'])
const finiteVerbs =
  /^(is|are|has|have|can|cannot|does|do|was|were|must|should|will|[a-z]{2,}(?:ses|zes|ies|ts|ns|ls|ds|ks|ps|es))$/
const linkWords = new Set(
  'a all an and any as at by each every for from if in into not of off on or out the to up when with'.split(' '),
)

/**
 * What the node does, as one imperative sentence with its full stop, from its name, kind, decorators and parameters.
 * It claims nothing that these do not say.
 */
export function summaryPhrase(signature: Signature): string {
  const known = dunderSummaries.get(signature.name)
  if (known !== undefined) return known
  const words = wordsOfName(signature.name)
  if (words.length === 0) return 'Handle a value that is not used.'
  if (signature.kind === 'class') return ofClass(words)
  if (words[0] === 'test') return ofTest(words.slice(1))
  return `${capitalize(ofFunction(words, signature))}.`
}

/** The condition a predicate answers (`\`n\` is prime`), or undefined when the name asks nothing. */
export function conditionOf(signature: Signature): string | undefined {
  const [verb, ...rest] = wordsOfName(signature.name)
  if (verb === undefined || !predicateVerbs.has(verb) || rest.length === 0) return undefined
  const given = givenParameters(signature).map(({ name }) => `\`${name}\``)
  const isMethod = signature.parameters.some(({ name }) => name === 'self' || name === 'cls')
  const predicate = `${verb} ${rest.join(' ')}`
  if (verb === 'are' && given.length === 2) return `${given.join(' and ')} ${predicate}`
  if (isMethod) return `this ${verb === 'are' ? `has ${rest.join(' ')}` : predicate}`
  // What should or must happen is rarely done by the parameter: `should_retry(error)`.
  return `${verb === 'should' || verb === 'must' ? 'it' : (given[0] ?? 'it')} ${predicate}`
}

/** What a getter-like name is about, with its article: `get_total_price` → `the total price`. */
export function objectOf(signature: Signature): string | undefined {
  const words = wordsOfName(signature.name)
  const rest = imperativeOf(words[0]) === undefined ? words : words.slice(1)
  const first = rest[0]
  return first === undefined || linkWords.has(first) ? undefined : `the ${rest.join(' ')}`
}

function ofClass(words: string[]): string {
  const last = words.at(-1) ?? ''
  if (last === 'error' || last === 'exception' || last === 'warning') return `Signal ${withArticle(words)}.`
  if (last === 'mixin') return `Add ${words.slice(0, -1).join(' ') || 'shared'} behavior to a class.`
  if (words[0] === 'test' && words.length > 1) return `Group the tests of ${words.slice(1).join(' ')}.`
  if (last === 'test' || last === 'tests') return `Group the tests of ${words.slice(0, -1).join(' ') || 'this module'}.`
  return `Represent ${withArticle(words)}.`
}

function withArticle(words: string[]): string {
  const phrase = words.join(' ')
  return isPlural(words.at(-1) ?? '') ? phrase : `${indefiniteArticle(phrase)} ${phrase}`
}

function ofTest(words: string[]): string {
  if (words.length === 0) return 'Run the test.'
  const [first = '', ...rest] = words
  if (finiteVerbs.test(first) && !isNounList(words)) return `Check that it ${words.join(' ')}.`
  if (rest.some((word) => finiteVerbs.test(word))) return `Check that ${words.join(' ')}.`
  return `Check ${words.join(' ')}.`
}

/** A single plural-looking word (`test_users`) names things rather than saying what they do. */
function isNounList(words: string[]): boolean {
  return words.length === 1
}

function ofFunction(words: string[], signature: Signature): string {
  const phrase = words.join(' ')
  if (hasDecorator(signature, 'setter')) return `set the ${phrase}`
  if (hasDecorator(signature, 'deleter')) return `delete the ${phrase}`
  const condition = conditionOf(signature)
  if (condition !== undefined) return `return whether ${condition}`
  if (hasDecorator(signature, 'fixture')) return `provide the ${phrase} fixture`
  if (hasDecorator(signature, 'property', 'cached_property')) return `return the ${phrase}`
  return ofConversion(words) ?? ofVerb(words, signature) ?? ofNoun(phrase, signature)
}

function ofConversion(words: string[]): string | undefined {
  const [first, ...rest] = words
  if (rest.length === 0) return undefined
  if (first === 'from') return `create an instance from ${rest.join(' ')}`
  if (first === 'to') return `convert to ${rest.join(' ')}`
  if (first === 'as') return `return this as ${rest.join(' ')}`
  if (first === 'on') return `handle the ${rest.join(' ')} event`
  const to = words.indexOf('to')
  if (to <= 0 || imperativeOf(first) !== undefined || to === words.length - 1) return undefined
  return `convert ${words.slice(0, to).join(' ')} to ${words.slice(to + 1).join(' ')}`
}

function ofVerb(words: string[], signature: Signature): string | undefined {
  const [first = '', ...rest] = words
  const verb = imperativeOf(first) ?? (rest.length === 0 && !returnsSomething(signature) ? first : undefined)
  if (verb === undefined || verb === 'main') return undefined
  if (rest.length > 0) return `${verb} ${needsNoArticle(rest) ? '' : 'the '}${rest.join(' ')}`
  const given = givenParameters(signature).filter(({ name }) => !name.startsWith('*') && !name.endsWith('args'))
  const [one, two] = given
  if (one === undefined) return signature.parameters.length > 0 ? `${verb} this instance` : `${verb} the operation`
  if (/^(save|store|write|dump|export)$/.test(verb) && /path|file/.test(one.name)) return `${verb} to \`${one.name}\``
  return two !== undefined && given.length === 2 && isTerse(one.name) && isTerse(two.name)
    ? `${verb} \`${one.name}\` and \`${two.name}\``
    : `${verb} \`${one.name}\``
}

/** `find by ID`, `set up logging`. */
function needsNoArticle(rest: string[]): boolean {
  return linkWords.has(rest[0] ?? '') || rest.at(-1)?.endsWith('ing') === true
}

/** Operands (`a, b`, `x, y`, `left, right`) are named together; other second parameters are options. */
function isTerse(name: string): boolean {
  return name.length <= 2 || ['left', 'right', 'first', 'second', 'lhs', 'rhs'].includes(name)
}

function ofNoun(phrase: string, signature: Signature): string {
  if (phrase === 'main') return 'run the program'
  if (hasDecorator(signature, 'contextmanager', 'asynccontextmanager')) return `provide the ${phrase} as a context`
  if (signature.yields) return `yield the ${phrase}`
  return returnsSomething(signature) ? `return the ${phrase}` : `carry out the ${phrase}`
}

function returnsSomething(signature: Signature): boolean {
  const { returns, returns_value: returnsValue, yields } = signature
  return yields || returnsValue || (returns !== undefined && returns !== null && returns !== 'None')
}

function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
