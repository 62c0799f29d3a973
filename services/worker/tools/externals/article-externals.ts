import { lastOwnLine } from '#markdown/article-survey.ts'
import { faultOfSummary, foreignNumbers, startOf, withSummary } from '#markdown/article-summary.ts'
import { type ProseFault, proseFaults } from '#markdown/prose-faults.ts'
import { maxArticleCharacters, readArticle } from '#markdown/read-article.ts'
import type { ExternalFunction } from '#tool-scripts/script-call.ts'
import { type Workspace, WorkspaceFault } from '../../workspace/open-workspace.ts'
import { findFiles, textReader } from '../../workspace/search-files.ts'
import { linesOfNode, type TargetNode } from '../target-node.ts'
import { nodeExcerpt } from '../shorten.ts'
import { optionalTruth, text } from './external-arguments.ts'

const maxShownCharacters = 12_000
/** A mend may show the next fault of its line, so mending repeats, at most this often. */
const maxRounds = 10

/** `describe_section` and `mend_section` on the attempt's section, `describe_article` and `insert_summary` on its file. */
export function articleExternals(workspace: Workspace, target: Pick<TargetNode, 'node' | 'locate'>) {
  return {
    describe_section: async () => shownSection(await sectionNow(workspace, target)),
    async mend_section() {
      const { path } = target.node
      let section = await sectionNow(workspace, target)
      let mended = 0
      for (let round = 0; round < maxRounds; round++) {
        const [fault] = section.faults.filter((one) => one.mended !== undefined)
        if (fault?.mended === undefined) break
        const lines = section.source.split('\n')
        const ending = lines[fault.line - 1]?.endsWith('\r') === true ? '\r' : ''
        lines[fault.line - 1] = `${fault.mended}${ending}`
        await workspace.writeText(path, lines.join('\n'))
        mended += 1
        section = await sectionNow(workspace, target)
      }
      return { mended, ...shownSection(section) }
    },
    async describe_article() {
      const { path } = target.node
      const source = await articleText(workspace, path)
      const start = startOf(source)
      if (start === undefined) throw refusal(`${path} has no title`)
      return {
        path,
        ...start,
        summary: start.summary ?? null,
        text: nodeExcerpt(source, { firstLine: 1, maxCharacters: maxShownCharacters }),
      }
    },
    async insert_summary([summary, onlyCheck]) {
      const { path } = target.node
      const source = await articleText(workspace, path)
      const wanted = text(summary, 'summary').trim()
      const isTry = optionalTruth(onlyCheck, 'only_check') ?? false
      const foreign = isTry ? foreignNumbers(wanted, source) : []
      const written = withSummary(source, wanted)
      const fault =
        (startOf(source)?.summary === undefined ? undefined : `${path} has a summary, which stays as it is`) ??
        faultOfSummary(wanted) ??
        (foreign.length === 0 ? undefined : `the article does not have the numbers ${foreign.join(', ')}`)
      if (fault !== undefined) throw refusal(fault)
      if (written === undefined) throw refusal(`${path} has no title`)
      if (!isTry) await workspace.writeText(path, written)
      return { path, written: !isTry }
    },
  } satisfies Record<string, ExternalFunction>
}

function refusal(reason: string): WorkspaceFault {
  return new WorkspaceFault('refused', reason)
}

async function articleText(workspace: Pick<Workspace, 'readText'>, path: string): Promise<string> {
  const source = await workspace.readText(path)
  if (!/\.(?:md|markdown|mdown)$/i.test(path)) throw refusal(`${path} is no Markdown`)
  if (source.length > maxArticleCharacters) throw refusal(`${path} is larger than ${maxArticleCharacters} characters`)
  return source
}

type Section = { path: string; source: string; first: number; last: number; faults: ProseFault[]; unjudged: number[] }

async function sectionNow(workspace: Workspace, target: Pick<TargetNode, 'node' | 'locate'>): Promise<Section> {
  const { path } = target.node
  await articleText(workspace, path)
  const located = await target.locate()
  const { source } = located
  const lines = linesOfNode(located)
  const { first } = lines
  const last = lastOwnLine(
    first,
    lines.last,
    readArticle(source).headings.map(({ line }) => line),
  )
  const tree = { read: textReader(workspace), filesNamed: (name: string) => filesNamed(workspace, name) }
  const { faults, unjudged } = await proseFaults(source, path, tree)
  const isOwn = (line: number) => line >= first && line <= last
  return {
    path,
    source,
    first,
    last,
    faults: faults.filter(({ line }) => isOwn(line)),
    unjudged: unjudged.filter(isOwn),
  }
}

function filesNamed(workspace: Pick<Workspace, 'list'>, name: string): string[] {
  return /^[\w.-]+$/.test(name) ? findFiles(workspace, `**/${name}`) : []
}

function shownSection({ path, source, first, last, faults, unjudged }: Section) {
  const lines = source.split(/\r?\n/).slice(first - 1, last)
  return {
    path,
    first_line: first,
    last_line: last,
    text: nodeExcerpt(lines.map((line, at) => `${first + at}: ${line}`).join('\n'), {
      firstLine: first,
      maxCharacters: maxShownCharacters,
    }),
    faults: faults.map(({ kind, line, message, mended }) => ({
      kind,
      line,
      message,
      can_be_mended: mended !== undefined,
    })),
    ...(unjudged.length > 0 && { links_not_judged: unjudged.length }),
  }
}
