import { plural } from '#domain/timeline/words.ts'
import { useMemo, useState } from 'preact/hooks'
import { type DiffLine, type FileDiff, type Hunk, parseDiff } from '#domain/read-diff.ts'
import { type Highlight, languageOf, loadHighlight } from '../../core/diff-highlight.ts'
import { useLoaded } from '../parts/use-loaded.ts'
import { type LinePair, markWords, pairLines, type Range, segmentsOf, type Token } from '../../core/drawn-rows.ts'

type DiffViewProps = {
  diff: string
  isSplit: boolean
  /** Only this file's part is shown. */
  path?: string | undefined
}

/** More lines are folded, until somebody wants to see them. */
const mostLines = 300

/** Shows a unified diff. All of it is text: of what highlighting finds, only the names of its colours become classes. */
export function DiffView({ diff, isSplit, path }: DiffViewProps) {
  const files = useMemo(() => parseDiff(diff), [diff])
  const shown = path === undefined ? files : files.filter((file) => file.path === path)
  return (
    <>
      {shown.map((file) => (
        <FileView key={file.path} file={file} isSplit={isSplit} hasHead={files.length > 1 && path === undefined} />
      ))}
    </>
  )
}

function FileView({ file, isSplit, hasHead }: { file: FileDiff; isSplit: boolean; hasHead: boolean }) {
  const [isWhole, setWhole] = useState(false)
  const count = file.hunks.reduce((sum, { lines }) => sum + lines.length, 0)
  const hunks = isWhole ? file.hunks : firstLines(file.hunks, mostLines)
  const highlight = useHighlight(file.path)
  const kinds = { create: 'new file', delete: 'deleted', rename: `was ${file.renamedFrom}`, edit: undefined } as const
  const notes = [kinds[file.kind], ...file.notes].filter((note) => note !== undefined)
  return (
    <div class="diff-file">
      {(hasHead || notes.length > 0) && (
        <p class="diff-head">
          {hasHead && <b class="mono">{file.path}</b>} <span class="quiet">{notes.join(', ')}</span>
        </p>
      )}
      <table class={isSplit ? 'diff split' : 'diff'}>
        <caption class="hidden">{file.path}</caption>
        <colgroup>
          <col class={isSplit ? 'numbers' : 'numbers before'} />
          <col class={isSplit ? undefined : 'numbers'} />
          {isSplit && <col class="numbers" />}
          <col />
        </colgroup>
        {hunks.map((hunk, at) => (
          <HunkView key={at} hunk={hunk} isSplit={isSplit} highlight={highlight} />
        ))}
      </table>
      {count > mostLines && !isWhole && (
        <button class="more" onClick={() => setWhole(true)}>
          Show all {plural(count, 'line')}
        </button>
      )}
    </div>
  )
}

function firstLines(hunks: readonly Hunk[], most: number): Hunk[] {
  let left = most
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, Math.max(0, left))
    left -= lines.length
    return lines.length === 0 ? [] : [{ ...hunk, lines }]
  })
}

/** Returns nothing until the language is there: without its colours, a text is as good to read. */
function useHighlight(path: string): Highlight | undefined {
  const language = languageOf(path)
  const load = async () => (language === undefined ? undefined : loadHighlight(language))
  return useLoaded(`colours of ${language}`, load).value
}

type HunkProps = { hunk: Hunk; isSplit: boolean; highlight: Highlight | undefined }

function HunkView({ hunk, isSplit, highlight }: HunkProps) {
  const pairs = useMemo(() => pairLines(hunk), [hunk])
  const marks = useMemo(() => markWords(pairs), [pairs])
  const tokens = useMemo(() => tokensOf(hunk, highlight), [hunk, highlight])
  const code = (line: DiffLine) => <Code line={line} tokens={tokens?.get(line)} marks={marks.get(line)} />
  return (
    <tbody>
      {hunk.skipped > 0 && (
        <tr class="gap">
          <td colSpan={isSplit ? 4 : 3}>{plural(hunk.skipped, 'unchanged line')}</td>
        </tr>
      )}
      {isSplit
        ? pairs.map((pair, at) => <PairRow key={at} pair={pair} code={code} />)
        : hunk.lines.map((line, at) => <LineRow key={at} line={line} code={code} />)}
    </tbody>
  )
}

/** Highlights both versions of a hunk as a whole, so that what goes over several lines has its colour in each. */
function tokensOf(
  { lines }: Hunk,
  highlight: Highlight | undefined,
): ReadonlyMap<DiffLine, readonly Token[]> | undefined {
  if (highlight === undefined) return undefined
  const tokens = new Map<DiffLine, readonly Token[]>()
  for (const other of ['added', 'removed'] as const) {
    const side = lines.filter(({ kind }) => kind !== other)
    const all = highlight(side.map(({ text }) => text))
    for (const [at, line] of side.entries()) tokens.set(line, all[at] ?? [])
  }
  return tokens
}

type Drawn = { code: (line: DiffLine) => preact.JSX.Element }

function LineRow({ line, code }: { line: DiffLine } & Drawn) {
  return (
    <tr class={line.kind}>
      <td class="numbers before">{line.before}</td>
      <td class="numbers">{line.after}</td>
      <td>{code(line)}</td>
    </tr>
  )
}

function PairRow({ pair: { left, right }, code }: { pair: LinePair } & Drawn) {
  return (
    <tr>
      <td class={`numbers ${left?.kind ?? 'none'}`}>{left?.before}</td>
      <td class={left?.kind ?? 'none'}>{left && code(left)}</td>
      <td class={`numbers ${right?.kind ?? 'none'}`}>{right?.after}</td>
      <td class={right?.kind ?? 'none'}>{right && code(right)}</td>
    </tr>
  )
}

const signs = { added: '+', removed: '−', same: ' ' } as const

type CodeProps = { line: DiffLine; tokens: readonly Token[] | undefined; marks: readonly Range[] | undefined }

function Code({ line, tokens = [{ text: line.text, scope: undefined }], marks = [] }: CodeProps) {
  return (
    <code>
      <span class="sign">{signs[line.kind]}</span>
      {segmentsOf(tokens, marks).map(({ text, scope, isMarked }, at) => {
        const Piece = isMarked ? 'mark' : 'span'
        const name = scope && `hl-${scope.split(/[.:]/)[0]}`
        return isMarked || name ? (
          <Piece key={at} class={name}>
            {text}
          </Piece>
        ) : (
          text
        )
      })}
      {line.end !== undefined && <span class="quiet"> {line.end}</span>}
    </code>
  )
}
