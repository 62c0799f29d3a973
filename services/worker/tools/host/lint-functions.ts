import type { Diagnostic } from '#lint/lint-report.ts'
import type { Workspace } from '../../workspace/open-workspace.ts'
import { applyFixes, lintNode, type LintDeps } from '../lint/lint-node.ts'
import type { TargetNode } from '../target-node.ts'
import { text } from './host-arguments.ts'
import type { HostFunction } from './host-function.ts'

/** A fix may bring up the next one (a removed use leaves an unused import): rounds until none is left, at most. */
const maxRounds = 10

/** `run_linter` and `apply_lint_fix` on the attempt's node: the tool does the work, the model only chooses. */
export function lintFunctions(workspace: Workspace, target: TargetNode, deps: LintDeps): Record<string, HostFunction> {
  return {
    run_linter: async () => report((await lintNode(target, deps)).diagnostics),
    async apply_lint_fix([code]) {
      const wanted = code === undefined || code === null ? undefined : text(code, 'code')
      let applied = 0
      for (let round = 0; round < maxRounds; round++) {
        const fixed = await applyFixes(await lintNode(target, deps), wanted, deps)
        if (fixed.applied.length === 0) break
        applied += fixed.applied.length
        await workspace.writeText(target.node.path, fixed.source)
      }
      return { applied, ...report((await lintNode(target, deps)).diagnostics) }
    },
  }
}

function report(diagnostics: readonly Diagnostic[]) {
  return {
    total: diagnostics.length,
    fixable: diagnostics.filter((one) => one.fix !== undefined).length,
    diagnostics: diagnostics.map(({ code, message, line, column, fix }) => ({
      code,
      message,
      line,
      column,
      fixable: fix !== undefined,
    })),
  }
}
