import { givenParameters, hasDecorator, isInstanceMethod, type Signature } from './signature.ts'
import { dunderSummaries } from './dunder-summaries.ts'
import { isNounPhrase, linkWords, mayBeNounPhrase } from './noun-phrase.ts'
import { imperativeOf } from './verbs.ts'
import { indefiniteArticle, isPlural, wordsOfName } from './words-of-name.ts'

const predicateVerbs = new Set(['is', 'are', 'has', 'have', 'can', 'could', 'should', 'must', 'was', 'will', 'needs'])
const finiteVerbs =
  /^(is|are|has|have|can|cannot|does|do|was|were|must|should|will|[a-z]{2,}(?:ses|zes|ies|ts|ns|ls|ds|ks|ps|es))$/
const adverbs = /^(again|async|away|back|down|it|once|together)$|ly$/
const actsOnItself =
  /^(activate|check|clean|clear|clone|close|copy|deactivate|destroy|disable|disconnect|enable|flush|freeze|initialize|lock|open|pause|refresh|reset|restart|resume|start|stop|unlock|update|validate|verify|shut down|tear down|set up)$/

/**
 * What the node does, as one imperative sentence with its full stop, from its name, kind, decorators and parameters.
 * It claims nothing that these do not say.
 */
export function summaryPhrase(signature: Signature): string {
  const known = dunderSummaries.get(signature.name)
  if (known !== undefined) return known
  if (/^__.+__$/.test(signature.name)) return `Implement \`${signature.name}\`.`
  const words = wordsOfName(signature.name)
  if (words.length === 0) return 'Handle a value that is not used.'
  if (signature.kind === 'class') return ofClass(words, signature)
  if (words[0] === 'test') return ofTest(words.slice(1), signature.name)
  return `${capitalize(ofFunction(words, signature))}.`
}

/** The condition a predicate answers (`\`n\` is prime`), or undefined when the name asks nothing. */
export function conditionOf(signature: Signature): string | undefined {
  const [verb, ...rest] = wordsOfName(signature.name)
  if (verb === undefined || !predicateVerbs.has(verb) || rest.length === 0) return undefined
  const given = givenParameters(signature).map(({ name }) => `\`${name}\``)
  const predicate = `${verb} ${rest.join(' ')}`
  if (verb === 'are' && given.length === 2) return `${given.join(' and ')} ${predicate}`
  // What should or must happen is rarely done by the parameter: `should_retry(error)`.
  if (verb === 'should' || verb === 'must') return `it ${predicate}`
  const [first, second] = given
  const compared = linkWords.has(rest.at(-1) ?? '')
  if (!isInstanceMethod(signature)) return `${first ?? 'it'} ${predicate}${compared ? ` ${second ?? 'it'}` : ''}`
  // `is_late(today)` says it of the instance, `is_valid(code)` of the parameter: nobody knows.
  const isOpen = /^(is|are|was)$/.test(verb) && first !== undefined && !compared
  if (isOpen) return `it ${predicate}`
  return `this ${verb === 'are' ? `has ${rest.join(' ')}` : predicate}${compared ? ` ${first ?? 'it'}` : ''}`
}

/** What a getter-like name is about, with its article: `get_total_price` → `the total price`. */
export function objectOf(signature: Signature): string | undefined {
  const words = wordsOfName(signature.name)
  const isGetter = imperativeOf(words[0]) !== undefined
  const rest = isGetter ? words.slice(1) : words
  return (isGetter ? mayBeNounPhrase(rest) : isNounPhrase(rest)) ? `the ${rest.join(' ')}` : undefined
}

function ofClass(words: string[], { name, bases }: Signature): string {
  const last = words.at(-1) ?? ''
  if (last === 'error' || last === 'exception' || last === 'warning') return `Signal ${withArticle(words)}.`
  if (last === 'mixin') return `Add ${words.slice(0, -1).join(' ') || 'shared'} behavior to a class.`
  if (words[0] === 'test' && words.length > 1) return `Group the tests of ${words.slice(1).join(' ')}.`
  if (last === 'test' || last === 'tests') return `Group the tests of ${words.slice(0, -1).join(' ') || 'this module'}.`
  if (bases.some((base) => /(Error|Exception|Warning)$/.test(base))) return `Signal the error \`${name}\`.`
  return mayBeNounPhrase(words) ? `Represent ${withArticle(words)}.` : `Define the class \`${name}\`.`
}

function withArticle(words: string[]): string {
  const phrase = words.join(' ')
  return isPlural(words.at(-1) ?? '') || /(money|data|information)$/.test(phrase)
    ? phrase
    : `${indefiniteArticle(phrase)} ${phrase}`
}

function ofTest(words: string[], name: string): string {
  if (words.length === 0) return 'Run the test.'
  const [first = '', ...rest] = words
  if (finiteVerbs.test(first) && !isNounList(words)) return `Check that it ${words.join(' ')}.`
  if (rest.some((word) => finiteVerbs.test(word))) return `Check that ${words.join(' ')}.`
  const isThing = words.length === 1 || (imperativeOf(first) === undefined && mayBeNounPhrase(words))
  return `Check ${isThing ? words.join(' ') : `\`${name.replace(/^test_*/, '')}\``}.`
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
  if (hasDecorator(signature, 'property', 'cached_property')) {
    return isNounPhrase(words) ? `return the ${phrase}` : `return the value of \`${signature.name}\``
  }
  return ofConversion(words, signature) ?? ofVerb(words, signature) ?? ofNoun(words, signature)
}

function ofConversion(words: string[], signature: Signature): string | undefined {
  const [first, ...rest] = words
  if (rest.length === 0) return undefined
  if (first === 'from') return `create an instance from ${rest.join(' ')}`
  if (first === 'to') return `convert to ${rest.join(' ')}`
  if (first === 'as') return `return ${subjectOf(signature)} as ${rest.join(' ')}`
  if (first === 'on' && !returnsSomething(signature)) return `handle the ${rest.join(' ')} event`
  if (imperativeOf(first) !== undefined) return undefined
  const from = words.indexOf('from')
  if (isInside(from, words)) return `make ${withArticle(words.slice(0, from))} from ${words.slice(from + 1).join(' ')}`
  const to = words.indexOf('to')
  return isInside(to, words) ? `convert ${words.slice(0, to).join(' ')} to ${words.slice(to + 1).join(' ')}` : undefined
}

/** What a conversion starts from. */
function subjectOf(signature: Signature): string {
  const [first] = givenParameters(signature)
  return isInstanceMethod(signature) || first === undefined ? 'this' : `\`${first.name}\``
}

function isInside(index: number, words: readonly string[]): boolean {
  return index > 0 && index < words.length - 1
}

function ofVerb(words: string[], signature: Signature): string | undefined {
  const [first = '', ...rest] = words
  const isLikelyVerb = rest.length === 0 && !returnsSomething(signature) && mayBeNounPhrase(words)
  const verb = imperativeOf(first) ?? (isLikelyVerb ? first : undefined)
  if (verb === undefined || verb === 'main') return undefined
  if (rest.length > 0) return `${verb} ${needsNoArticle(rest) ? '' : 'the '}${rest.join(' ')}`
  // What has a default is an option, not what the verb is about.
  const given = givenParameters(signature).filter(
    (one) => (one.default ?? null) === null && !/^\*|args$/.test(one.name),
  )
  const [one, two] = given
  if (one === undefined) return onItself(verb, signature)
  if (/^(create|make|build|generate)$/.test(verb)) return `${verb} from \`${one.name}\``
  if (/^(save|store|write|dump|export)$/.test(verb) && /path|file/.test(one.name)) return `${verb} to \`${one.name}\``
  return two !== undefined && given.length === 2 && isTerse(one.name) && isTerse(two.name)
    ? `${verb} \`${one.name}\` and \`${two.name}\``
    : `${verb} \`${one.name}\``
}

/** A verb that nothing is given to: a method may be about its instance, where that is sure. */
function onItself(verb: string, signature: Signature): string {
  if (!isInstanceMethod(signature) || givenParameters(signature).length > 0) return verb
  if (actsOnItself.test(verb)) return `${verb} this instance`
  return /^(get|pop|read|receive|fetch|load)$/.test(verb) ? `${verb} from this instance` : verb
}

/** `find by ID`, `set up logging`. */
function needsNoArticle(rest: string[]): boolean {
  return linkWords.has(rest[0] ?? '') || adverbs.test(rest[0] ?? '') || rest.at(-1)?.endsWith('ing') === true
}

/** Operands (`a, b`, `x, y`, `left, right`) are named together; other second parameters are options. */
function isTerse(name: string): boolean {
  return name.length <= 2 || ['left', 'right', 'first', 'second', 'lhs', 'rhs'].includes(name)
}

/** What is no verb we know is called by its name, unless it surely names a thing. */
function ofNoun(words: string[], signature: Signature): string {
  const phrase = words.join(' ')
  if (phrase === 'main') return 'run the program'
  const name = `\`${signature.name}\``
  const isThing = isNounPhrase(words)
  if (hasDecorator(signature, 'contextmanager', 'asynccontextmanager')) {
    return isThing ? `provide the ${phrase} as a context` : `provide the context ${name}`
  }
  if (signature.yields) return isThing ? `yield the ${phrase}` : `yield the results of ${name}`
  if (!returnsSomething(signature)) return `carry out the step ${name}`
  return isThing && signature.returns !== 'bool' ? `return the ${phrase}` : `return the result of ${name}`
}

function returnsSomething(signature: Signature): boolean {
  const { returns, returns_value: returnsValue, yields } = signature
  return yields || returnsValue || (returns !== undefined && returns !== null && returns !== 'None')
}

function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
