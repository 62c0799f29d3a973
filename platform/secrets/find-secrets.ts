import { passwordRules } from './password-rules.ts'
import { readSecretRules, type Allowlist, type SecretRule } from './secret-rules.ts'

/** Says where a secret stands in a text: from `start` up to but not including `end`. */
export type Span = { start: number; end: number }

/** Rules are tried on parts, so that none takes more than linear time. Parts overlap by what may stand between a secret and its mark. */
const partLength = 2048
const longestPart = 2 * partLength
const overlap = 256
const shortest = 8

const none: ReadonlySet<number> = new Set()

export type SecretFinder = {
  find(text: string): Span[]
  /** Tells whether no string of a JSON text can have a secret, since it has no word that each rule needs: a tenth of the work. */
  isClear(json: string): boolean
}

/** Opens a finder of the secrets in texts, by the rules of a scanner and as private keys. Reads and compiles the rules once. */
export function openSecretFinder(): SecretFinder {
  const rules = readSecretRules(passwordRules)
  const keywords = [...rules.map((rule) => rule.keywords), ['-----begin', '-----end']]
  const scan = openKeywordScan(keywords)
  const words = new Set(keywords.flat().flatMap((word) => [word, JSON.stringify(word).slice(1, -1)]))
  const anyWord = new RegExp([...words].map(escaped).join('|'))
  const find = (text: string) => {
    const spans: Span[] = []
    let hasKey = false
    for (const part of text.length < shortest ? [] : partsOf(text)) {
      const lower = part.text.toLowerCase()
      const indexes = anyWord.test(lower) ? scan(lower) : none
      if (indexes.size === 0) continue
      const { plain, placeOf } = unescaped(part.text)
      for (const index of indexes) {
        const rule = rules[index]?.make()
        if (rule === undefined) hasKey = true
        else spans.push(...spansOf(rule, plain).map((span) => placed(span, placeOf, part.start)))
      }
    }
    if (hasKey) spans.push(...privateKeys(text))
    return spans.length === 0 ? spans : merged(spans)
  }
  // A letter may be written as \u0041, though not by JSON.stringify.
  return { find, isClear: (json) => !json.includes(String.raw`\u`) && !anyWord.test(json.toLowerCase()) }
}

function escaped(word: string): string {
  return word.replaceAll(/\W/g, String.raw`\$&`)
}

/** One pass takes 40 ms of CPU for a megabyte, where a search for each of the 272 keywords takes 150. */
function openKeywordScan(keywords: readonly (readonly string[])[]): (lower: string) => Set<number> {
  const words = [...new Set(keywords.flat())].toSorted((left, right) => right.length - left.length)
  // Looking ahead, since keywords overlap; at each place the longest one is found, and with it those that it begins with.
  const wordsAhead = new RegExp(`(?=(${words.map(escaped).join('|')}))`, 'g')
  const rulesWith = Map.groupBy(
    keywords.flatMap((own, rule) => own.map((word) => ({ word, rule }))),
    ({ word }) => word,
  )
  const rulesOf = new Map(
    words.map((word) => [word, Array.from(word, (_, at) => rulesWith.get(word.slice(0, at + 1)) ?? []).flat()]),
  )
  return (lower) => {
    const indexes = new Set<number>()
    for (const [, word = ''] of lower.matchAll(wordsAhead))
      for (const { rule } of rulesOf.get(word) ?? []) indexes.add(rule)
    return indexes
  }
}

type Unescaped = { plain: string; placeOf(at: number): number }

/** Returns the text without the escapes of strings, since rules expect quotes and line breaks; `placeOf` maps its places back. */
function unescaped(text: string): Unescaped {
  if (!text.includes('\\')) return { plain: text, placeOf: (at) => at }
  const steps: { at: number; missing: number }[] = []
  let missing = 0
  const plain = text.replaceAll(/\\+(?:["'`nrt/])?/g, (escape, at: number) => {
    const last = escape.at(-1) ?? ''
    const meant = last === '\\' ? '\\' : (lineBreaks.get(last) ?? last)
    missing += escape.length - 1
    steps.push({ at: at + escape.length - missing, missing })
    return meant
  })
  return { plain, placeOf: (at) => at + (steps.findLast((step) => step.at <= at)?.missing ?? 0) }
}

const lineBreaks = new Map([
  ['n', '\n'],
  ['r', '\n'],
  ['t', '\t'],
])

function placed({ start, end }: Span, placeOf: Unescaped['placeOf'], by: number): Span {
  return { start: placeOf(start) + by, end: placeOf(end - 1) + 1 + by }
}

function* partsOf(text: string): Generator<{ text: string; start: number }> {
  for (let start = 0; ;) {
    const blank = text.slice(start + partLength, start + longestPart).search(/\s/)
    const end = Math.min(text.length, blank < 0 ? start + longestPart : start + partLength + blank)
    yield { text: start === 0 && end === text.length ? text : text.slice(start, end), start }
    if (end === text.length) return
    start = end - overlap
  }
}

function spansOf({ pattern, group, entropy, allowed }: SecretRule, text: string): Span[] {
  const spans: Span[] = []
  for (const match of text.matchAll(pattern)) {
    const secret =
      (group === 0 ? match.slice(1).find((part) => part !== undefined && part !== '') : match[group]) ?? match[0]
    if (secret === '' || (entropy > 0 && entropyOf(secret) <= entropy)) continue
    if (allowed.some((list) => isAllowed(list, { secret, match, text }))) continue
    // Some rules include the quotes.
    const bare = secret.replaceAll(/^["'`\s]+|["'`\s]+$/g, '')
    const start = match.index + Math.max(0, match[0].lastIndexOf(bare))
    if (bare !== '') spans.push({ start, end: start + bare.length })
  }
  return spans
}

type Found = { secret: string; match: RegExpExecArray; text: string }

function isAllowed({ target, patterns, stopwords }: Allowlist, { secret, match, text }: Found): boolean {
  const lower = secret.toLowerCase()
  if (stopwords.some((word) => lower.includes(word))) return true
  if (patterns.length === 0) return false
  const judged = target === 'secret' ? secret : target === 'match' ? matchOf(match, text) : lineOf(match, text)
  return patterns.some((pattern) => pattern.test(judged))
}

function matchOf({ 0: match, index }: RegExpExecArray, text: string): string {
  return (/[\w.-]{0,50}$/.exec(text.slice(Math.max(0, index - 50), index))?.[0] ?? '') + match
}

function lineOf({ 0: match, index }: RegExpExecArray, text: string): string {
  const end = text.indexOf('\n', index + match.length)
  return text.slice(text.lastIndexOf('\n', index) + 1, end < 0 ? text.length : end)
}

export function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

const keyStart = /-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----/gi
const keyEnd = /-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----/gi
/** A line of the key itself, and not of a sentence or a program about keys. */
const keyLine = /[A-Za-z0-9+/]{32}/
/** Matches what may stand between such lines, in a diff, in a string of several lines, or numbered. */
const ofBlock = /[A-Za-z0-9+/=\s\\"'`,:.+-]/
const longestKey = 32 * 1024

/** Finds what is between the marks of a private key, or from its start or to its end where a text was cut within the key. */
function privateKeys(text: string): Span[] {
  const starts = Array.from(text.matchAll(keyStart), ({ 0: mark, index }) => index + mark.length)
  const ends = Array.from(text.matchAll(keyEnd), ({ index }) => index)
  const bounds = [...starts.map((at) => ({ at, isStart: true })), ...ends.map((at) => ({ at, isStart: false }))]
  const ordered = bounds.toSorted((left, right) => left.at - right.at)
  const spans = ordered.map(({ at, isStart }, index): Span => {
    const [before, next] = [ordered[index - 1], ordered[index + 1]]
    const isWhole = isStart && next?.isStart === false && next.at - at <= longestKey
    if (isWhole) return { start: at, end: next.at }
    return isStart ? linesAfter(text, at, next?.at) : linesBefore(text, at, before?.at)
  })
  return spans.filter(({ start, end }) => keyLine.test(text.slice(start, end)))
}

/** Goes no further than `most`, where the next mark is, so that a text full of marks is read once. */
function linesAfter(text: string, start: number, most = text.length): Span {
  let end = start
  while (end < Math.min(most, start + longestKey) && ofBlock.test(text[end] ?? '')) end += 1
  return { start, end }
}

function linesBefore(text: string, end: number, least = 0): Span {
  let start = end
  while (start > Math.max(least, end - longestKey) && ofBlock.test(text[start - 1] ?? '')) start -= 1
  return { start, end }
}

function merged(spans: readonly Span[]): Span[] {
  const all: Span[] = []
  for (const span of spans.toSorted((left, right) => left.start - right.start || left.end - right.end)) {
    const last = all.at(-1)
    if (last !== undefined && span.start <= last.end)
      all[all.length - 1] = { start: last.start, end: Math.max(last.end, span.end) }
    else all.push(span)
  }
  return all
}
