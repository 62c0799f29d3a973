import type { JournalEntry } from '#domain/external-journal.ts'
import {
  CodeFinding,
  findingKey,
  FindingSeverity,
  maxClaimCharacters,
  maxFindings,
  maxLineCharacters,
  reportedFindings,
  wireFinding,
} from '#domain/code-finding.ts'
import { parseRepoPath } from '#domain/repo-path.ts'
import { type ExternalFunction, ScriptError } from '#tool-scripts/script-call.ts'
import { type Workspace, refusal } from '#stages/operate/workspace/open-workspace.ts'
import { optionalInteger, text } from '#stages/operate/tools/externals/external-arguments.ts'

/** Makes `report_finding`: it is about lines that exist, and is not repeated. `before`: what earlier attempts that this one continues have called. */
export function reportFinding(
  workspace: Pick<Workspace, 'readText'>,
  before: readonly JournalEntry[],
): ExternalFunction {
  const known = new Set(reportedFindings(before).map(findingKey))
  return async ([claim, path, line, confidence, endLine, severity, rule]) => {
    const stated = { claim: text(claim, 'claim').trim(), path: parseRepoPath(text(path, 'path'), 'TOOL_007') }
    const lines = await placeIn(workspace, stated.path, [line, endLine])
    const finding = CodeFinding.safeParse({
      ...stated,
      ...lines,
      severity: severity ?? 'warning',
      confidence,
      rule: rule ?? null,
    })
    if (!finding.success) throw new ScriptError('ValueError', faultsOf(finding.error))
    const key = findingKey(finding.data)
    if (known.has(key)) return { reported: false, reason: 'it was reported before' }
    if (known.size >= maxFindings)
      throw new ScriptError('ValueError', `at most ${maxFindings} findings may be reported`)
    known.add(key)
    return { reported: true, left: maxFindings - known.size, finding: wireFinding(finding.data) }
  }
}

async function placeIn(
  workspace: Pick<Workspace, 'readText'>,
  path: string,
  [first, last]: readonly unknown[],
): Promise<Pick<CodeFinding, 'line' | 'endLine' | 'lineText'>> {
  const line = optionalInteger(first, 'line')
  if (line === undefined) throw new ScriptError('TypeError', 'line must be an integer')
  const endLine = optionalInteger(last, 'end_line') ?? line
  const lines = linesOf(await workspace.readText(path))
  if (line < 1 || endLine > lines.length)
    throw refusal(`${path} has lines 1 to ${lines.length}, got ${line} to ${endLine}`)
  if (line > endLine) throw refusal(`line (${line}) must be <= end_line (${endLine})`)
  const lineText = (lines[line - 1] ?? '').trim()
  return { line, endLine, lineText: lineText.length > maxLineCharacters ? '' : lineText }
}

function linesOf(content: string): string[] {
  return content.replace(/(?:\r\n|\r|\n)$/, '').split(/\r\n|\r|\n/)
}

const limits: Readonly<Record<string, string>> = {
  claim: `claim must have 1 to ${maxClaimCharacters} characters`,
  severity: `severity must be ${FindingSeverity.options.join(', ')}`,
  confidence: 'confidence must be a number from 0 to 1',
  rule: 'rule must be a name of at most 64 letters, digits and . _ / -',
}

function faultsOf({ issues }: { issues: readonly { path: readonly PropertyKey[]; message: string }[] }): string {
  const names = [...new Set(issues.map(({ path }) => String(path[0])))]
  return names.map((name) => limits[name] ?? `${name} is not valid`).join('; ')
}
