import { isRecord, parseJson } from '#domain/json.ts'
import { entropyOf, openSecretFinder, type SecretFinder, type Span } from './find-secrets.ts'

export const secretMark = '[secret]'

/** Hides secrets in what is shown, logged or exported; never in what services store or compute with. */
export type Redactor = {
  readonly given: readonly string[]
  /** Hides in all of the text what one place of it reveals. */
  text(text: string): string
  /** A JSON value with all its strings redacted; the same one if it has no secret. What one string reveals is hidden in all. */
  value(value: unknown): unknown
  record(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
  /** A JSON text, the same to the byte if it has no secret. Anything else is treated as plain text. */
  json(text: string): string
}

const leastLength = 6

/** `values` are the secrets of the configuration. The rules are read with the first text, which takes about 20 ms. */
export function openRedactor(values: readonly string[] = []): Redactor {
  const known = [...new Set(values.filter(({ length }) => length >= leastLength).flatMap(formsOf))]
  const written = [...new Set([...known, ...known.map(inJson)])]
  const hideIn = (value: unknown) => {
    const seen = new Set<string>()
    forEachString(value, (text) => {
      for (const { start, end } of findSecrets(text)) seen.add(text.slice(start, end))
      for (const secret of known) if (text.includes(secret)) seen.add(secret)
    })
    if (seen.size === 0) return value
    const secrets = [...known, ...[...seen].filter(isTelling)].toSorted((left, right) => right.length - left.length)
    return mapStrings(value, (text) => withMarks(text, secrets))
  }
  const hideInText = (text: string) => {
    const hidden = hideIn(text)
    return typeof hidden === 'string' ? hidden : text
  }
  return {
    given: values,
    text: hideInText,
    value: hideIn,
    record(record) {
      const hidden = hideIn(record)
      return isRecord(hidden) ? hidden : {}
    },
    json(text) {
      if (secretFinder().isClear(text) && !written.some((secret) => text.includes(secret))) return text
      const value = parseJson(text)
      if (value === undefined) return hideInText(text)
      const hidden = hideIn(value)
      return hidden === value ? text : JSON.stringify(hidden)
    },
  }
}

let finder: SecretFinder | undefined

function secretFinder(): SecretFinder {
  finder ??= openSecretFinder()
  return finder
}

export function findSecrets(text: string): Span[] {
  return secretFinder().find(text)
}

function formsOf(secret: string): string[] {
  return [secret, encodeURIComponent(secret), inJson(secret)]
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function isTelling(secret: string): boolean {
  const isMixed = /\d/.test(secret) && /[a-z]/i.test(secret) && /[^\w\s]/.test(secret)
  return isMixed ? secret.length >= 8 : secret.length >= 12 && entropyOf(secret) >= 3
}

function withMarks(text: string, secrets: readonly string[]): string {
  let shown = ''
  let from = 0
  for (const { start, end } of findSecrets(text)) {
    shown += text.slice(from, start) + secretMark
    from = end
  }
  shown += text.slice(from)
  for (const secret of secrets) shown = shown.replaceAll(secret, secretMark)
  return shown
}

function forEachString(value: unknown, visit: (text: string) => void): void {
  if (typeof value === 'string') visit(value)
  else if (Array.isArray(value)) for (const part of value) forEachString(part, visit)
  else if (isRecord(value)) {
    for (const key of Object.keys(value)) {
      visit(key)
      forEachString(value[key], visit)
    }
  }
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((part) => mapStrings(part, change))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [change(key), mapStrings(part, change)]))
}
