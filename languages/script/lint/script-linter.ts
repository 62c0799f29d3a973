import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import type { LintRules, ScriptSuffix } from '#domain/path-rules.ts'
import { type LintAnswer, type LintReport, openLintAnswers } from '../../lint/lint-report.ts'
import {
  openOxlintServer,
  type OxlintQuestion,
  type OxlintRule,
  type OxlintServer,
  readOxlintRules,
} from './oxlint-server.ts'
import { scriptReportOf } from './script-report.ts'
import { unseenConfiguration, unseenFactsOf, withoutSwitches } from './unseen-assignments.ts'

export type ScriptLinter = {
  /** Reports faults. TOOL_006 for a text that oxlint cannot handle: nested too deeply, or too slow. */
  lint(text: string, rules: ScriptRules): Promise<LintReport>
  /** Returns oxlint's reason for refusing a configuration, if it does. TOOL_004 when it crashes or is too slow, twice. */
  refusalOf(configuration: LintRules['options']): Promise<string | undefined>
  rules(): Promise<readonly OxlintRule[]>
  close(): Promise<void>
}

export type ScriptRules = LintRules & { suffix: ScriptSuffix }

const maxCachedBytes = 10_000_000

const everywhere = 'builtin browser node es2024 worker serviceworker jest mocha jasmine commonjs amd jquery'.split(' ')

/**
 * Configures what no change may add whatever the repository's rules are: undefined and unused names, and what oxlint counts as certainly
 * wrong. In TypeScript the compiler knows which names there are, and a linter does not.
 */
const guardConfiguration = (suffix: ScriptSuffix) => ({
  plugins: ['typescript', 'oxc'],
  categories: { correctness: 'error' },
  env: Object.fromEntries(everywhere.map((name) => [name, true])),
  rules: { 'no-redeclare': 'error', ...(/ts/.test(suffix) ? {} : { 'no-undef': 'error' }) },
})

/** One linter serves the whole process. Its own process starts with the first text. */
export function openScriptLinter({ limitMs = 10_000 }: { limitMs?: number } = {}): ScriptLinter {
  const server = openOxlintServer({ limitMs })
  const answerFor = openLintAnswers(maxCachedBytes)
  return {
    async lint(text, rules) {
      const key = sha256(`${rules.suffix}${JSON.stringify(rules.options)}${String(rules.isExcluded)}\0${text}`)
      return (await answerFor(key, () => lintWith(server, text, rules))).report
    },
    async refusalOf(configuration) {
      const question: OxlintQuestion = { text: '', suffix: '.js', configuration }
      const first = await server.check(question)
      // A process that ended says nothing about the configuration; the next question gets a new one.
      const answer = first.kind === 'lost' ? await server.check(question) : first
      if (answer.kind === 'lost') throw new AppError('TOOL_004', `oxlint does not check a configuration: ${answer.why}`)
      return answer.kind === 'refused' ? answer.why : undefined
    },
    rules: readOxlintRules,
    close: server.close,
  }
}

async function lintWith(
  server: OxlintServer,
  text: string,
  { suffix, options, isExcluded }: ScriptRules,
): Promise<LintAnswer> {
  const reports: LintReport[] = []
  for (const configuration of [guardConfiguration(suffix), ...(isExcluded ? [] : [options])]) {
    const answer = await server.check({ text, suffix, configuration })
    if (answer.kind !== 'report') return { kind: 'lost', why: answer.why }
    const report = scriptReportOf(answer, text)
    if (!report.diagnostics.some(({ code }) => code === 'prefer-const')) {
      reports.push(report)
      continue
    }
    const unseen = { text: withoutSwitches(text), suffix, configuration: unseenConfiguration }
    const second = await server.check(unseen)
    if (second.kind !== 'report') return { kind: 'lost', why: second.why }
    const facts = unseenFactsOf(scriptReportOf(second, unseen.text).diagnostics, text)
    reports.push(scriptReportOf(answer, text, facts))
  }
  const [guards, own] = reports
  return {
    kind: 'report',
    report: {
      diagnostics: own?.diagnostics ?? [],
      guards: guards?.diagnostics ?? [],
      syntaxErrors: guards?.syntaxErrors ?? [],
    },
  }
}
