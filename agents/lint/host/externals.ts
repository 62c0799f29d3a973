import type { Diagnostic } from '#languages/lint/lint-report.ts'
import type { ExternalFunction } from '#tool-scripts/script-call.ts'
import { text } from '#stages/operate/tools/externals/external-arguments.ts'
import { applyFixes, type LintDeps, lintNode } from '#stages/operate/tools/lint/lint-node.ts'
import type { TargetNode } from '#stages/operate/tools/target-node.ts'
import type { Workspace } from '#stages/operate/workspace/open-workspace.ts'

/** A fix may cause the next fault (removing a use leaves an unused import), so fixing repeats, at most this often. */
const maxRounds = 10

/** `run_linter` and `apply_lint_fix` on the attempt's node: the model chooses a rule, the tool makes the fixes. */
export function lintExternals(workspace: Workspace, target: TargetNode, deps: LintDeps) {
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
  } satisfies Record<string, ExternalFunction>
}

function report(diagnostics: readonly Diagnostic[]) {
  const shown = diagnostics.map(({ code, message, line, column, fix }) => {
    return { code, message, line, column, fixable: fix !== undefined }
  })
  return { total: shown.length, fixable: shown.filter(({ fixable }) => fixable).length, diagnostics: shown }
}
