import { AppError } from '#domain/error.ts'
import type { RuffTree } from '#domain/path-rules.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import type { ObtainedProgram } from '#platform/obtain-program.ts'
import { type Lost, openServerTurns } from '../../lint/server-turns.ts'
import { guardRules, withRuffEdits } from './ruff-report.ts'
import { type RuffAnswer, type RuffItem, type RuffQuestion, startRuff } from './ruff-server.ts'
import { keyOfTree, treeWith } from './ruff-tree.ts'

export type RuffSettings = {
  enabled: ReadonlySet<string>
  /** Returns a value by its key: `linter.line_length`; undefined where Ruff says none. */
  value(key: string): string | undefined
}

/** Asks Ruff. All throw TOOL_005 where there is no Ruff. */
export type Ruff = {
  /** Returns what Ruff reports in a text at a path of a tree, with the guard rules on. */
  itemsIn(tree: RuffTree, file: { path: string; text: string }): Promise<RuffItem[] | Lost>
  /** Returns the settings that files of a folder have, or Ruff's reason for refusing their configuration. */
  settingsIn(tree: RuffTree, folder: string): Promise<RuffSettings | { refusal: string }>
  lintedIn(tree: RuffTree): Promise<ReadonlySet<string>>
  /** Returns undefined for a text that Ruff cannot format. */
  formatted(text: string, lineLength: number): Promise<string | undefined>
  close(): Promise<void>
}

const knownSettings = 200

type Options = { ruff: ObtainedProgram; limitMs: number; processes: number }

export function openRuff({ ruff: { path, lack }, limitMs, processes }: Options): Ruff {
  const turns =
    path === undefined
      ? []
      : Array.from({ length: processes }, () => openServerTurns(() => startRuff(path, guardRules), { limitMs }))
  const settings = openCachedAnswers<RuffSettings | { refusal: string }>({ max: knownSettings })

  async function ask(question: RuffQuestion): Promise<RuffAnswer | Lost> {
    const [leastBusy] = turns.toSorted((left, right) => left.waiting() - right.waiting())
    if (leastBusy === undefined) throw new AppError('TOOL_005', `Python cannot be linted: ${lack ?? 'no process'}`)
    return leastBusy.ask(question)
  }

  /** Returns what Ruff printed, or its refusal. A process that was lost says nothing of the question, and the next one gets it. */
  async function printed(question: RuffQuestion): Promise<{ output: string } | { refusal: string }> {
    const first = await ask(question)
    const answer = first.kind === 'lost' ? await ask(question) : first
    if (answer.kind === 'output') return { output: answer.output }
    if (answer.kind === 'refused') return { refusal: answer.why }
    throw new AppError(
      'TOOL_004',
      `Ruff does not tell its ${question.kind}: ${answer.kind === 'lost' ? answer.why : ''}`,
    )
  }

  return {
    async itemsIn(tree, file) {
      const answer = await ask({ kind: 'lint', tree, ...file })
      if (answer.kind === 'items') return answer.items
      return answer.kind === 'lost' ? answer : { kind: 'lost', why: 'Ruff answered another question' }
    },
    settingsIn: (tree, folder) =>
      settings.get(`${keyOfTree(tree)} ${folder}`, async () => {
        const answer = await printed({ kind: 'settings', tree, folder })
        return 'output' in answer ? readRuffSettings(answer.output) : answer
      }),
    async lintedIn(tree) {
      const answer = await printed({ kind: 'modules', tree })
      return new Set('output' in answer ? answer.output.split('\n') : [])
    },
    async formatted(text, lineLength) {
      const tree = treeWith({ 'line-length': lineLength, format: { 'quote-style': 'preserve' } })
      const answer = await ask({ kind: 'format', tree, text })
      return answer.kind === 'edits' ? withRuffEdits(text, answer.edits) : undefined
    },
    async close() {
      await Promise.all(turns.map(({ close }) => close()))
    },
  }
}

/** Reads what `ruff check --show-settings` prints. */
function readRuffSettings(output: string): RuffSettings {
  const enabled = /^linter\.rules\.enabled = \[\n(?<rules>[^\]]*)\]/m.exec(output)?.groups?.['rules'] ?? ''
  const values = new Map(
    Array.from(output.matchAll(/^(?<key>[\w.]+) = (?<value>.*)$/gm), ([, key = '', value = '']) => [key, value]),
  )
  return {
    enabled: new Set(Array.from(enabled.matchAll(/\(([A-Z]+\d+)\)/g), ([, code = '']) => code)),
    value(key) {
      const value = values.get(key)
      return value === 'none' ? undefined : value
    },
  }
}
