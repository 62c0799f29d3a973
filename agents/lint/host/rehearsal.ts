import { z } from 'zod'
import { filePath, lastResult, type Conversation } from '#rehearsal/conversation.ts'
import { call, offering, type Conclusion, type Rule } from '#rehearsal/rule.ts'

const Report = z.object({ diagnostics: z.array(z.object({ code: z.string(), fixable: z.boolean().default(false) })) })
const Applied = z.object({ applied: z.number() })
const FixArgs = z.object({ code: z.string() })

export const lint: Rule = {
  plays: offering('run_linter', 'apply_lint_fix', 'submit_result'),
  next(conversation) {
    if (!conversation.steps.some((step) => step.tool === 'run_linter')) return call('run_linter')
    const code = nextCode(conversation)
    return code === undefined ? undefined : call('apply_lint_fix', { code })
  },
  conclude(conversation) {
    if (lastResult(conversation, 'run_linter') === undefined) return failed('The linter did not run.')
    const left = diagnostics(conversation).length
    const applied = appliedFixes(conversation)
    if (applied > 0) {
      const path = filePath(conversation)
      const summary = `Applied ${count(applied, 'lint fix', 'lint fixes')}; ${count(left, 'diagnostic is', 'diagnostics are')} left.`
      return { status: 'success', summary, changedFiles: path === undefined ? [] : [path] }
    }
    if (triedCodes(conversation).size > 0) return failed('No lint fix could be applied.')
    const summary =
      left === 0 ? 'There is nothing to fix.' : `None of ${count(left, 'diagnostic', 'diagnostics')} has a fix.`
    return { status: 'skipped', summary, changedFiles: [] }
  },
}

function nextCode(conversation: Conversation): string | undefined {
  const tried = triedCodes(conversation)
  return diagnostics(conversation).find(({ code, fixable }) => fixable && !tried.has(code))?.code
}

function diagnostics(conversation: Conversation): z.infer<typeof Report>['diagnostics'] {
  for (const step of conversation.steps.toReversed()) {
    const report = Report.safeParse(step.result)
    if (!step.failed && report.success) return report.data.diagnostics
  }
  return []
}

function triedCodes(conversation: Conversation): Set<string> {
  const codes = fixSteps(conversation).map((step) => FixArgs.safeParse(step.args).data?.code)
  return new Set(codes.filter((code) => code !== undefined))
}

function appliedFixes(conversation: Conversation): number {
  let total = 0
  for (const step of fixSteps(conversation)) {
    if (!step.failed) total += Applied.safeParse(step.result).data?.applied ?? 0
  }
  return total
}

function fixSteps(conversation: Conversation) {
  return conversation.steps.filter((step) => step.tool === 'apply_lint_fix')
}

function failed(summary: string): Conclusion {
  return { status: 'failed', summary, changedFiles: [] }
}

function count(n: number, single: string, many: string): string {
  return `${n} ${n === 1 ? single : many}`
}
