import { charactersPerToken } from '#domain/turn.ts'
import type { Action, AgentContext, EarlierResult, LastError } from './fold-context.ts'
import { boundedSection, fenced, oneLine, type Section } from './bounded-text.ts'

/** Estimates how many characters so many tokens are, as is done before a server has counted. */
export function charactersOf(tokens: number): number {
  return tokens * charactersPerToken
}

const maxSummary = 300
const maxArguments = 120
const maxValue = 120
const maxWhat = 300

export type CodeExcerpt = {
  /** Its relation to the node, in words: `Calls function price (src/util.py:10)`. */
  what: string
  language: string
  text: string
}

/** The closest first; `more` counts the ones left out. */
export type RelatedCode = { excerpts: readonly CodeExcerpt[]; more: number }

export type ContextParts = AgentContext & { relatedCode: RelatedCode }

/** Lists the sections in the order of the text and of their importance: later ones are cut first. */
const sectionNames = ['last_error', 'earlier_results', 'short_track', 'knowledge', 'related_code'] as const
export type SectionName = (typeof sectionNames)[number]

/**
 * The context in a form for small models, one text per section, together at most `maxTokens` with the blank lines between
 * them. Each section may take half of the room that is left, the last one all of it. A cut is marked with the number of
 * missing entries. A section without entries, or without room for that mark, is empty. The same context gives the same text.
 */
export function renderSections(parts: ContextParts, { maxTokens }: { maxTokens: number }): Record<SectionName, string> {
  const sections = sectionsOf(parts)
  const open = sectionNames.filter((name) => sections[name].entries.length + (sections[name].more ?? 0) > 0)
  const rendered = { last_error: '', earlier_results: '', short_track: '', knowledge: '', related_code: '' }
  let left = charactersOf(maxTokens)
  for (const name of open) {
    const room = name === open.at(-1) ? left : Math.floor(left / 2)
    rendered[name] = boundedSection(sections[name], room)
    if (rendered[name] !== '') left -= rendered[name].length + between.length
  }
  return rendered
}

export function renderContext(parts: ContextParts, bound: { maxTokens: number }): string {
  return joinSections(Object.values(renderSections(parts, bound)))
}

const between = '\n\n'

export function joinSections(sections: readonly string[]): string {
  return sections.filter((section) => section !== '').join(between)
}

function sectionsOf(parts: ContextParts): Record<SectionName, Section> {
  const { lastError, shortTrack, knowledge, longTrack, relatedCode } = parts
  return {
    last_error: { heading: '## Last error', entries: lastError === undefined ? [] : [errorLine(lastError)] },
    earlier_results: {
      heading: longTrack.some(({ status }) => status === 'succeeded')
        ? '## Earlier results\nWhat these agents changed is kept apart: the code you see is without it.'
        : '## Earlier results',
      entries: longTrack.map(resultLine),
    },
    short_track: {
      heading: '## What you did so far',
      entries: shortTrack.actions.map(actionLine),
      more: shortTrack.before,
      cut: 'first',
    },
    knowledge: {
      heading: '## What is known',
      entries: Array.from(knowledge, ([key, value]) => `- ${oneLine(key, maxValue)}: ${valueText(value)}`),
      cut: 'first',
    },
    related_code: {
      heading: '## Related code, for reference',
      entries: relatedCode.excerpts.map(codeText),
      more: relatedCode.more,
    },
  }
}

function actionLine({ tool, arguments: given, outcome, errorCode, summary }: Action): string {
  const args = ['', '{}'].includes(given.trim()) ? '' : ` ${oneLine(given, maxArguments)}`
  const state = outcome === undefined ? '' : `${outcome}${coded(errorCode)}: `
  return `- ${oneLine(tool, maxValue)}${args} → ${state}${oneLine(summary, maxSummary) || 'no answer yet'}`
}

function resultLine({ agent, node, status, errorCode, summary }: EarlierResult): string {
  const where = node === undefined ? 'this node' : oneLine(node, maxValue)
  return `- ${agent} on ${where}: ${status}${coded(errorCode)}. ${oneLine(summary, maxSummary)}`
}

function errorLine({ of, errorCode, reason }: LastError): string {
  const what = of === 'operation' ? 'An earlier attempt at this failed' : `${oneLine(of, maxValue)} failed`
  return `${what}${coded(errorCode)}: ${oneLine(reason, maxSummary)}`
}

function coded(errorCode: string | undefined): string {
  return errorCode === undefined ? '' : ` (${errorCode})`
}

function valueText(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), maxValue)
}

function codeText({ what, language, text }: CodeExcerpt): string {
  return `${oneLine(what, maxWhat)}:\n${fenced(text, language)}`
}
