import { z } from 'zod'
import { indexIn, TextRange } from '../../lint/language-server.ts'
import type { Diagnostic, LintReport } from '../../lint/lint-report.ts'
import { smallestEdit } from '../../lint/text-edit.ts'
import { isSafeScriptFix } from './safe-script-fixes.ts'
import { nothingUnseen, type UnseenFacts, whyVariable } from './unseen-assignments.ts'

const RawDiagnostic = z.object({
  range: TextRange,
  severity: z.int(),
  code: z.string().default(''),
  message: z.string(),
})
type RawDiagnostic = z.infer<typeof RawDiagnostic>
const RawEdits = z.array(z.object({ range: TextRange, newText: z.string() }))
const RawAction = z.object({
  title: z.string(),
  isPreferred: z.boolean().default(false),
  edit: z.object({ changes: z.record(z.string(), RawEdits) }).optional(),
})
type RawAction = z.infer<typeof RawAction>

/** Is the severity of a hint in the language server's protocol: the other end of a fault that is listed itself. */
const hint = 4

/**
 * Reads the faults of a text from oxlint's answer. Rules have ESLint's names: `prefer-const`, and `typescript/array-type` or
 * `react/jsx-key` for those of a plugin. A fault without a rule is one of the syntax; with such faults there are no others. `unseen` says
 * which variables have to stay variables.
 */
export function scriptReportOf(
  { diagnostics, actions, uri }: { diagnostics: unknown; actions: unknown; uri: string },
  text: string,
  unseen: UnseenFacts = nothingUnseen,
): LintReport {
  const at = indexIn(text)
  const raw = z
    .array(RawDiagnostic)
    .parse(diagnostics)
    .filter(({ severity }) => severity !== hint)
  const fixes = fixesOf(raw, z.array(RawAction).nullable().parse(actions) ?? [], uri)
  const isTyped = /\.[cm]?tsx?$/.test(uri)
  const faults = raw.map(({ range: where, ...fault }, index): Diagnostic => {
    const code = ruleOf(fault.code)
    const whole = fixes[index]?.map(({ range, newText }) => ({
      start: at(range.start),
      end: at(range.end),
      text: newText,
    }))
    const edits = whole?.map((edit) => smallestEdit(edit, text))
    const isSafe = edits !== undefined && isSafeScriptFix(code, edits, { text, isTyped })
    const own = { start: at(where.start), end: at(where.end) }
    // Of several names that are declared at once, oxlint gives only the first one the fix.
    const declaration = whole?.[0] ?? own
    const declared = { text, isTyped, nameAt: own.start, unseen }
    const mustStay = code === 'prefer-const' ? whyVariable(declaration, declared) : undefined
    return {
      code: code === '' ? 'invalid-syntax' : code,
      message: fault.message.replaceAll(/\s*\n(?:help: )?/g, '. ').replaceAll('..', '.'),
      line: where.start.line + 1,
      column: where.start.character + 1,
      ...own,
      fix: isSafe && mustStay === undefined ? edits : undefined,
      ...(mustStay === undefined ? {} : { mustStay }),
      ...(edits === undefined || isSafe ? {} : { withheld: 'ours' as const }),
    }
  })
  const syntaxErrors = faults.filter(({ code }) => code === 'invalid-syntax')
  return { diagnostics: syntaxErrors.length > 0 ? [] : faults, guards: [], syntaxErrors }
}

/** `eslint(no-var)` is `no-var`; `typescript-eslint(x)` and `typescript(x)` are `typescript/x`. */
function ruleOf(code: string): string {
  const { plugin = 'eslint', rule = '' } = /^(?<plugin>[^(]+)\((?<rule>[^)]+)\)$/.exec(code)?.groups ?? {}
  const short = plugin.replace(/^eslint-plugin-/, '').replace(/^@?typescript-eslint$/, 'typescript')
  return short === 'eslint' ? rule : `${short}/${rule}`
}

const disables = /^Disable (?<rule>\S+) for this (?<where>line|whole file)$/

/**
 * Returns the edits of each fault's fix. oxlint lists the actions of one fault after the other, in the order of the faults: its fixes, then how to
 * disable its rule for the line and for the file. Where that does not fit, there are none.
 */
function fixesOf(faults: readonly RawDiagnostic[], actions: readonly RawAction[], uri: string) {
  const groups: { rule: string; fixes: RawAction[] }[] = []
  let fixes: RawAction[] = []
  for (const action of actions) {
    const { rule, where } = disables.exec(action.title)?.groups ?? {}
    if (rule === undefined) fixes.push(action)
    else if (where === 'whole file') {
      groups.push({ rule, fixes })
      fixes = []
    }
  }
  const coded = faults.filter(({ code }) => code !== '')
  const fits =
    groups.length === coded.length &&
    coded.every(({ code }, at) => code.endsWith(`(${groups[at]?.rule.replace(/^.*\//, '')})`))
  const byFault = new Map(fits ? coded.map((fault, at) => [fault, groups[at]?.fixes ?? []]) : [])
  return faults.map((fault) => byFault.get(fault)?.find(({ isPreferred }) => isPreferred)?.edit?.changes[uri])
}
