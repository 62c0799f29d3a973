import { type ArticleFacts, readArticle } from './read-article.ts'

/** Whether a link of the article leads nowhere, as far as the repository shows. */
export type IsBroken = (target: string) => Promise<boolean>

/**
 * What a change of the wording has changed besides, in words with the place; undefined when code, links, numbers, headings, tables, HTML, templates and
 * front matter are what they were. What was wrong may be mended: a link that led nowhere, a level that was skipped, a fence without its
 * language.
 */
export async function faultOfWording(before: string, after: string, isBroken: IsBroken): Promise<string | undefined> {
  const [was, now] = [readArticle(before), readArticle(after)]
  return (
    (was.frontMatter === now.frontMatter ? undefined : 'the front matter has changed') ??
    differing('the code block', texts(was.code), texts(now.code)) ??
    differing('the code', was.codeSpans, now.codeSpans) ??
    differing('the table cell', was.cells, now.cells) ??
    differing('the HTML', was.html, now.html) ??
    differing('what a site fills in', filledIn(was), filledIn(now)) ??
    differing('the heading', texts(was.headings), texts(now.headings)) ??
    differing('the number', was.numbers, now.numbers) ??
    faultOfLanguages(was, now) ??
    faultOfLevels(was, now) ??
    (await faultOfLinks(was, now, isBroken))
  )
}

/** Marks between which Jekyll, Vue, mdBook and their like run what stands there, and lines that take in other files or modules. */
export function filledIn({ prose }: Pick<ArticleFacts, 'prose'>): string[] {
  return prose.flatMap(({ text }) => text.match(/\{\{|\}\}|\{%|%\}|<%|%>|^[ \t]*(?::::[ \t]|-+8<-+).*/gm) ?? [])
}

function texts(all: readonly { text: string }[]): string[] {
  return all.map(({ text }) => text)
}

const shown = (text: string | undefined) => JSON.stringify(text?.trim().slice(0, 60) ?? '')

function differing(what: string, was: readonly string[], now: readonly string[]): string | undefined {
  const at = was.findIndex((text, place) => text !== now[place])
  if (at >= 0)
    return now[at] === undefined
      ? `${what} ${shown(was[at])} is gone`
      : `${what} ${shown(was[at])} is now ${shown(now[at])}`
  return now.length > was.length ? `${what} ${shown(now[was.length])} is new` : undefined
}

function faultOfLanguages({ code: was }: ArticleFacts, { code: now }: ArticleFacts): string | undefined {
  const at = was.findIndex(({ info }, place) => info !== now[place]?.info && info !== '')
  return at < 0 ? undefined : `the language of the code block in line ${was[at]?.line ?? 0} has changed`
}

/** A level may rise to the one below that of the heading before, where it had skipped some. */
function faultOfLevels({ headings: was }: ArticleFacts, { headings: now }: ArticleFacts): string | undefined {
  const at = was.findIndex(({ level }, place) => {
    const { level: next } = now[place] ?? { level }
    const above = now[place - 1]?.level ?? next
    return next !== level && !(next < level && next === above + 1)
  })
  return at < 0 ? undefined : `the level of the heading ${shown(was[at]?.text)} has changed`
}

async function faultOfLinks({ links: was }: ArticleFacts, { links: now }: ArticleFacts, isBroken: IsBroken) {
  if (was.length !== now.length) return `there were ${was.length} links, and are ${now.length}`
  for (const [at, { target }] of was.entries()) {
    const next = now[at]?.target ?? ''
    if (next === target) continue
    if (!(await isBroken(target))) return `the link to ${shown(target)} led somewhere, and is now to ${shown(next)}`
    if (await isBroken(next)) return `the new link to ${shown(next)} leads nowhere`
  }
  return undefined
}
