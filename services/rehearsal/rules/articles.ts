import { z } from 'zod'
import { type Conversation, lastResult } from '../conversation.ts'
import { call, offering, type Rule } from './rule.ts'

const Section = z.object({
  path: z.string(),
  first_line: z.int(),
  text: z.string(),
  faults: z.array(z.object({ can_be_mended: z.boolean() })),
})
const plainer: readonly (readonly [RegExp, string])[] = [
  [/\bin order to\b/g, 'to'],
  [/\butili[sz]e\b/g, 'use'],
  [/\bprior to\b/g, 'before'],
]

/** Mends what can be mended, gives the first long-winded line plainer words, and submits. */
export const articleSection: Rule = {
  plays: offering('read_section', 'mend_section', 'edit_section', 'submit_result'),
  next(conversation) {
    const done = (tool: string) => conversation.steps.some((step) => step.tool === tool)
    if (!done('read_section')) return call('read_section')
    const section = sectionIn(conversation)
    if (section === undefined) return undefined
    if (!done('mend_section') && section.faults.some((one) => one.can_be_mended)) return call('mend_section')
    return done('edit_section') ? undefined : plainerLine(section)
  },
  conclude(conversation) {
    const section = sectionIn(conversation)
    if (section === undefined) return { status: 'failed', summary: 'The section could not be read.', changedFiles: [] }
    const changes = conversation.steps.filter(({ tool, failed }) => tool !== 'read_section' && !failed)
    const { length } = section.faults
    const left = length === 0 ? '' : ` ${length} ${length === 1 ? 'fault is' : 'faults are'} left.`
    if (changes.length === 0) return { status: 'skipped', summary: `Nothing was mended.${left}`, changedFiles: [] }
    return { status: 'success', summary: `Mended the section.${left}`, changedFiles: [section.path] }
  },
}

/** Returns the section as the last tool has left it. */
function sectionIn(conversation: Conversation): z.infer<typeof Section> | undefined {
  const results = ['read_section', 'mend_section', 'edit_section'].map((tool) => lastResult(conversation, tool))
  return results.flatMap((result) => Section.safeParse(result).data ?? []).at(-1)
}

function plainerLine({ text }: z.infer<typeof Section>) {
  for (const numbered of text.split('\n')) {
    const [, line = '', words = ''] = /^(\d+): (.*)$/.exec(numbered) ?? []
    const plain = plainer.reduce((now, [long, short]) => now.replaceAll(long, short), words)
    if (plain !== words) return call('edit_section', { text: plain, start_line: Number(line), end_line: Number(line) })
  }
  return undefined
}

const Article = z.object({
  path: z.string(),
  title: z.string(),
  headings: z.array(z.string()),
  summary: z.string().nullable(),
})
const Written = z.object({ written: z.boolean() })
const mostCharacters = 300

/** Proposes what the headings say, and submits. */
export const articleSummary: Rule = {
  // A bundle of one turn may offer it alone.
  plays: offering('write_summary'),
  next(conversation) {
    const done = (tool: string) => conversation.steps.some((step) => step.tool === tool)
    if (!done('read_article')) return call('read_article')
    const article = articleIn(conversation)
    if (article === undefined || article.summary !== null || done('write_summary')) return undefined
    return call('write_summary', { summary: summaryOf(article) })
  },
  conclude(conversation) {
    const article = articleIn(conversation)
    if (article === undefined) return { status: 'failed', summary: 'The article could not be read.', changedFiles: [] }
    if (article.summary !== null) return { status: 'skipped', summary: 'The article has a summary.', changedFiles: [] }
    const answer = Written.safeParse(lastResult(conversation, 'write_summary')).data
    if (answer === undefined) return { status: 'failed', summary: 'No summary was written.', changedFiles: [] }
    if (!answer.written) return { status: 'skipped', summary: 'A person left the article as it is.', changedFiles: [] }
    return { status: 'success', summary: 'Wrote the summary.', changedFiles: [article.path] }
  },
}

function articleIn(conversation: Conversation): z.infer<typeof Article> | undefined {
  return Article.safeParse(lastResult(conversation, 'read_article')).data
}

function summaryOf({ title, headings }: z.infer<typeof Article>): string {
  const plain = (text: string) => text.replaceAll(/[^\p{L}\p{N} ,-]/gu, '').trim()
  let summary = `This article is about ${plain(title)}`
  for (const [at, heading] of headings.map(plain).filter(Boolean).entries()) {
    const longer = `${summary}${at === 0 ? ': ' : ', '}${heading}`
    if (longer.length >= mostCharacters) break
    summary = longer
  }
  return `${summary.slice(0, mostCharacters - 1)}.`
}
