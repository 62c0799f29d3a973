import { isPlural } from './words-of-name.ts'

/** Words that link others: a name that starts or ends with one names no thing. */
export const linkWords: ReadonlySet<string> = new Set(
  `a all an and any as at by each every for from if in into not of off on or out per than the to under until up via when
  with without`.split(/\s+/),
)

/** Last words of names that say what is there, not what is done. */
const nouns: ReadonlySet<string> = new Set(
  `address amount area average balance body client code column connection content cost count data date day directory error
  factor file header height ID index key keyword label length line list maximum mean median message minimum mode model
  name node number offset output parser part path percentage point price product query rate ratio report response result
  root row score size source state status stock string sum summary table tax text time timestamp title token total tree
  type URI URL user username value vector weight width year`.split(/\s+/),
)

/** Verbs of the third person, which look like plurals, as do words of two or three letters. */
const finite =
  /^(exists|matches|contains|equals|accepts|supports|allows|needs|requires|applies|wants|starts|ends|[a-z]{1,3})$/

/**
 * Whether the words of a name surely name a thing (`order lines`, `total price`), so that an article may stand before
 * them. Unknown words might be verbs: no.
 */
export function isNounPhrase(words: readonly string[]): boolean {
  const last = words.at(-1) ?? ''
  if (words.some((word) => linkWords.has(word))) return false
  return nouns.has(last) || /.(tion|sion|ness|ity)$/.test(last) || (isPlural(last) && !finite.test(last))
}

/**
 * Whether the words can at least be read as a thing's name: no link word, adverb or participle in the places of a noun.
 */
export function mayBeNounPhrase(words: readonly string[]): boolean {
  const last = words.at(-1) ?? ''
  return last.length > 1 && !words.some((word) => linkWords.has(word)) && !/^.{2,}(?:[^e]ed|ing|ly)$/.test(last)
}
