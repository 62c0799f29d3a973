import { readFileSync } from 'node:fs'
import { parse as parseToml } from 'smol-toml'
import { z } from 'zod'

export type SecretRule = {
  /** Are in lower case. A text without any of them, whatever its case, has no secret of this kind. */
  keywords: readonly string[]
  /** Is global; it begins to search at `lastIndex`. */
  pattern: RegExp
  /** The group with the secret; 0: the first one that matched, or else the whole match. */
  group: number
  entropy: number
  /** Says what is no secret although it looks like one: examples, placeholders, names. */
  allowed: readonly Allowlist[]
}

/** A rule is made for the first text that has one of its words: most never are. */
export type UnmadeRule = Pick<SecretRule, 'keywords'> & { make(): SecretRule }

export type Allowlist = {
  target: 'secret' | 'match' | 'line'
  patterns: readonly RegExp[]
  stopwords: readonly string[]
}

const texts = z.array(z.string()).default([])
const AllowlistRow = z.object({
  condition: z.enum(['OR', 'AND']).default('OR'),
  regexTarget: z.enum(['secret', 'match', 'line']).default('secret'),
  paths: texts,
  regexes: texts,
  stopwords: texts,
})
const RuleFile = z.object({
  allowlist: AllowlistRow,
  rules: z.array(
    z.object({
      id: z.string(),
      regex: z.string().optional(),
      secretGroup: z.int().default(0),
      entropy: z.number().default(0),
      keywords: texts,
      allowlists: z.array(AllowlistRow).default([]),
    }),
  ),
})

/** `privateKeys` finds cut ones, too. The rule for Terraform takes every word in quotes for a password, and is for its files alone. */
const foundOtherwise = ['private-key', 'hashicorp-tf-password']

/** Reads the rules of gitleaks (docs/decisions/0048) but those for names of files, and `own`. */
export function readSecretRules(own: readonly SecretRule[]): UnmadeRule[] {
  const file = RuleFile.parse(parseToml(readFileSync(new URL('./gitleaks.toml', import.meta.url), 'utf8')))
  const forAll = allowlistsOf([file.allowlist])
  const rules = file.rules.flatMap(({ id, regex, secretGroup: group, entropy, keywords, allowlists }): UnmadeRule[] => {
    if (regex === undefined || foundOtherwise.includes(id)) return []
    let made: SecretRule | undefined
    const make = (): SecretRule => ({
      keywords,
      pattern: new RegExp(patternOf(regex), 'g'),
      group,
      entropy,
      allowed: [...forAll, ...allowlistsOf(allowlists)],
    })
    return [{ keywords, make: () => (made ??= make()) }]
  })
  const owned = own.map((rule) => ({ ...rule, allowed: [...forAll, ...rule.allowed] }))
  return [...rules, ...owned.map((rule) => ({ keywords: rule.keywords, make: () => rule }))]
}

/** Leaves out those that need a path as well: a text has none here, so they never apply. */
function allowlistsOf(rows: readonly z.infer<typeof AllowlistRow>[]): Allowlist[] {
  const usable = rows.filter(({ condition, paths }) => condition === 'OR' || paths.length === 0)
  return usable.map(({ regexTarget, regexes, stopwords }) => ({
    target: regexTarget,
    patterns: regexes.map((regex) => new RegExp(patternOf(regex))),
    stopwords: stopwords.map((word) => word.toLowerCase()),
  }))
}

/** Matches what many rules allow before their keyword. It decides nothing, and makes a search from every place slow. */
const anyPrefix = /\[\\w\.-\]\{0,50\}\?/g

const unknownSyntax = /\[:(?!alnum)\^?\w+:\]|\\[ACQEpP]|\(\?[a-z]*[mU]/

/** Rewrites a regular expression of Go (RE2): `(?i)` counts to the end of its group, `\z` is the end of the text. */
function patternOf(source: string): string {
  const unknown = unknownSyntax.exec(source)?.[0]
  if (unknown !== undefined)
    throw new RangeError(`${unknown} of a regular expression of Go is not known here: ${source}`)
  const text = source
    .replaceAll(anyPrefix, '')
    .replaceAll('(?P<', '(?<')
    .replaceAll('\\z', '$')
    .replaceAll('[[:alnum:]]', '[a-zA-Z0-9]')
  const open: string[] = ['']
  let pattern = ''
  for (const [part] of text.matchAll(/\\[^]|\[\^?\]?(?:\\[^]|[^\\\]])*\]|\(\?i\)|[^]/g)) {
    if (part === '(?i)') {
      pattern += '(?i:'
      open.push(`${open.pop() ?? ''})`)
      continue
    }
    if (part === ')') pattern += open.pop() ?? ''
    if (part === '(') open.push('')
    pattern += part
  }
  return pattern + open.join('')
}
