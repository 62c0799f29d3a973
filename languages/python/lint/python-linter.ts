import { LRUCache } from 'lru-cache'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import type { LintRules, RuffTree, TextStyle } from '#domain/path-rules.ts'
import { folderOf } from '#domain/repo-path.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import type { ObtainedProgram } from '#platform/obtain-program.ts'
import { isInPreview } from '../../lint/configuration/flake8-config.ts'
import { type LintAnswer, type LintReport, openLintAnswers } from '../../lint/lint-report.ts'
import { openRuff, type Ruff } from './ask-ruff.ts'
import { lintReportOf } from './ruff-report.ts'
import type { RuffItem } from './ruff-server.ts'
import { governingFolder, keyOfTree, treeWith } from './ruff-tree.ts'

export type PythonLinter = {
  /** Is Ruff's name with its version, or only its name where there is none. */
  version: string
  /** Says why Python is not linted here, and how to change that; undefined where there is a Ruff. */
  lack: string | undefined
  /**
   * Reports the faults of `text` under the rules of its file. TOOL_006 for a text that Ruff cannot handle: nested too deeply for its
   * stack, or too slow. TOOL_005 where there is no Ruff.
   */
  lint(text: string, rules: LintRules): Promise<LintReport>
  /**
   * Formats `after` as Black would if `before` is formatted so, with the line length of `rules` or Black's own. Returns
   * `after` unchanged if `before` is not, or if Ruff cannot handle it.
   */
  keepFormat(before: string, after: string, rules: { text: Pick<TextStyle, 'lineLength'> }): Promise<string>
  trees: RuffTrees
  /** Ends the processes; what is running and waiting fails. Safe to call twice. */
  close(): Promise<void>
}

export type RuffTrees = Pick<Ruff, 'settingsIn' | 'lintedIn'> & {
  /** Makes a tree known by a key, which rules name; without one, by its own. Returns the key. */
  add(tree: RuffTree, key?: string): string
  /** Returns Ruff's reason for refusing options, in its words; undefined when it accepts them. */
  refusalOf(options: Readonly<Record<string, unknown>>): Promise<string | undefined>
}

const maxCachedBytes = 20_000_000
const knownTrees = 100
const knownFormats = 100
const blackLineLength = 88

/** `processes`: texts are shared out among so many. They start with the first text. */
type Options = { ruff: ObtainedProgram; limitMs?: number; processes?: number }

export function openPythonLinter({ ruff: program, limitMs = 10_000, processes = 1 }: Options): PythonLinter {
  const ruff = openRuff({ ruff: program, limitMs, processes })
  const trees = new LRUCache<string, RuffTree>({ max: knownTrees })
  const answerFor = openLintAnswers(maxCachedBytes)
  return {
    version: program.version === undefined ? 'ruff' : `ruff ${program.version}`,
    lack: program.lack,
    async lint(text, rules) {
      const key = sha256(`${JSON.stringify(rules)}\0${text}`)
      return (await answerFor(key, () => lintText(text, rules, { ruff, tree: treeOf(rules, trees) }))).report
    },
    keepFormat: formatKeeper(ruff),
    trees: {
      add(tree, key = keyOfTree(tree)) {
        trees.set(key, tree)
        return key
      },
      async refusalOf(options) {
        const settings = await ruff.settingsIn(treeWith(options), '')
        return 'refusal' in settings ? settings.refusal : undefined
      },
      settingsIn: ruff.settingsIn,
      lintedIn: ruff.lintedIn,
    },
    close: ruff.close,
  }
}

/** Returns the tree of a file; one that the repository's linter leaves out is checked for what no change may bring. */
function treeOf({ options, tree: key, isExcluded }: LintRules, trees: LRUCache<string, RuffTree>): RuffTree {
  if (isExcluded) return treeWith({})
  if (key === undefined) return treeWith(options)
  const known = trees.get(key)
  if (known === undefined) throw new AppError('TOOL_004', 'the configuration of these rules is not known here')
  return known
}

type Linting = { ruff: Ruff; tree: RuffTree }

const anyPath = 'text.py'

/** Lints by the configuration that governs the file. A text that is valid in no version of Python 3 has no faults but those of its syntax. */
async function lintText(text: string, rules: LintRules, { ruff, tree }: Linting): Promise<LintAnswer> {
  const path = rules.tree === undefined || rules.isExcluded ? anyPath : (rules.path ?? anyPath)
  const folder = governingFolder(tree.files, folderOf(path))
  const all = await ruff.itemsIn(tree, { path, text })
  if ('kind' in all) return all
  const settings = await ruff.settingsIn(tree, folder)
  if ('refusal' in settings) return { kind: 'lost', why: settings.refusal }
  const hasTarget = settings.value('linter.unresolved_target_version') !== undefined
  const reportWith = (own: readonly RuffItem[]): LintAnswer => {
    return { kind: 'report', report: lintReportOf({ all, own }, text, { ignored: rules.ignored, hasTarget }) }
  }
  if (rules.isExcluded || (all.some(isSyntaxError) && !(await isPython(text, ruff)))) return reportWith([])
  const { preview } = tree
  const isInTwoPasses = preview !== undefined && governingFolder(preview, folderOf(path)) === folder
  const second = isInTwoPasses ? await ruff.itemsIn({ ...tree, files: preview }, { path, text }) : []
  if ('kind' in second) return second
  const own = all.filter(({ code }) => settings.enabled.has(code ?? ''))
  return reportWith([...own, ...second.filter(({ code }) => isInPreview(code ?? ''))])
}

function isSyntaxError({ code }: RuffItem): boolean {
  return code === 'invalid-syntax'
}

/** Is true also for a text that is newer than the repository's target version. For Python 2, Ruff still reports faults in the tokens. */
async function isPython(text: string, ruff: Ruff): Promise<boolean> {
  const items = await ruff.itemsIn(treeWith({ lint: { select: [] } }), { path: anyPath, text })
  return !('kind' in items) && !items.some(isSyntaxError)
}

/** Remembers which texts are formatted, because each round of fixes of a file asks for the same text. */
function formatKeeper(ruff: Ruff): PythonLinter['keepFormat'] {
  const formats = openCachedAnswers<'formatted' | 'other'>({ max: knownFormats })
  return async (before, after, { text: { lineLength } }) => {
    for (const length of new Set([lineLength, blackLineLength])) {
      const format = await formats.get(sha256(`${length} ${before}`), async () => {
        const isSame = (await ruff.formatted(before, length)) === before
        return isSame && (await isPython(before, ruff)) ? 'formatted' : 'other'
      })
      if (format === 'formatted') return (await ruff.formatted(after, length)) ?? after
    }
    return after
  }
}
