import { stringify } from 'yaml'
import { isRecord, parseJson } from '#domain/json.ts'
import { escapedCharacter, terminalControls } from '#domain/terminal-controls.ts'

/** Nothing in a foreign text is Markdown, ends the block, or controls a terminal. */
export function fenced(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(3, longestTicks(text) + 1))
  const shown = text.replaceAll(terminalControls, escapedCharacter)
  return `${fence}${language}\n${shown}${shown === '' || shown.endsWith('\n') ? '' : '\n'}${fence}`
}

export function code(text: string): string {
  const shown = text.replaceAll(terminalControls, escapedCharacter).replaceAll(/[\n\t]/g, escapedCharacter)
  const ticks = '`'.repeat(longestTicks(shown) + 1)
  const space = shown === '' || /^`|`$|^ .* $/.test(shown) ? ' ' : ''
  return `${ticks}${space}${shown}${space}${ticks}`
}

/** A text stays as it is; another value is JSON, or YAML where a text in it has several lines. */
export function fencedValue(value: unknown): string {
  if (typeof value === 'string') return fenced(value)
  if (hasLines(value)) return fenced(stringify(value, { lineWidth: 0, blockQuote: 'literal' }), 'yaml')
  return fenced(JSON.stringify(value, null, 2), 'json')
}

/** Arguments that are no JSON are shown as the model wrote them. */
export function fencedArguments(text: string): string {
  const value = parseJson(text)
  return isRecord(value) ? fencedValue(value) : fenced(text)
}

/** It writes `0.4 ms`, `850 ms`, `12.34 s`, `4 min 05 s`, `3 h 20 min`. */
export function lengthOfTime(ms: number): string {
  if (ms < 10) return `${Math.round(ms * 10) / 10} ms`
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 100_000) return `${(ms / 1000).toFixed(2)} s`
  const seconds = Math.round(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 100) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}

function longestTicks(text: string): number {
  let longest = 0
  for (const [ticks] of text.matchAll(/`+/g)) longest = Math.max(longest, ticks.length)
  return longest
}

function hasLines(value: unknown): boolean {
  if (typeof value === 'string') return value.trimEnd().includes('\n')
  if (Array.isArray(value)) return value.some(hasLines)
  return isRecord(value) && Object.values(value).some(hasLines)
}
