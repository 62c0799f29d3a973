import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { byPath } from '#domain/repo-path.ts'
import { FindingSeverity } from '#domain/code-finding.ts'
import type { FindingView } from '#schemas/finding-schema.ts'
import { allFindings } from '../api-lists.ts'
import type { CliContext } from '../cli-context.ts'
import { findingsSarif } from '../run/findings-sarif.ts'
import { requireWritable, writeWhole } from '../run/output-file.ts'
import { withRuns } from '../run/reach-service.ts'
import { onOneLine, visible, visibleName } from '../terminal-text.ts'
import { plural } from '../wording.ts'

const formats = ['text', 'json', 'sarif'] as const
type FindingsOptions = {
  format: (typeof formats)[number]
  json?: true
  agent?: string
  path?: string
  severity?: string
  out?: string
}

/** `remora findings RUN`: what its agents have found. */
export function addFindingsCommand(program: Command, context: CliContext): void {
  program
    .command('findings')
    .description('print what the agents of a run have found: path, line, claim and how sure they are')
    .argument('<run>', 'run id')
    .addOption(new Option('--format <format>', 'how to print').choices(formats).default('text'))
    .option('--json', 'the same as --format json')
    .option('--agent <name>', 'only those of this agent')
    .option('--path <glob>', 'only those in files that match')
    .addOption(new Option('--severity <severity>', 'only those of this severity').choices(FindingSeverity.options))
    .option('-o, --out <file>', 'write them to a file instead')
    .action(async (runId: string, { json, out, format: given, ...filter }: FindingsOptions) => {
      const path = out === undefined ? undefined : resolve(context.cwd, out)
      if (path !== undefined) await requireWritable(path)
      const found = await withRuns(context, ({ client }) => Array.fromAsync(allFindings(client, runId, filter)))
      const findings = found.toSorted((one, other) => byPath(one, other) || one.line - other.line)
      const text = formatted(runId, findings, json ? 'json' : given)
      if (path === undefined) context.io.out(text)
      else await writeWhole(path, [text])
    })
}

function formatted(runId: string, findings: readonly FindingView[], format: FindingsOptions['format']): string {
  if (format === 'json') return `${JSON.stringify({ run_id: runId, findings })}\n`
  if (format === 'sarif') return `${JSON.stringify(findingsSarif(runId, findings), null, 2)}\n`
  return [...findings.map(findingText), `${summaryOf(findings)}\n`].join('\n')
}

/** Writes a finding as editors read it, `path:line: severity: claim`, then who says so and the line. */
function findingText(finding: FindingView): string {
  const { path, line, end_line: endLine, severity, claim, rule, confidence, agent, line_text: text } = finding
  const until = endLine === line ? '' : `, to line ${endLine}`
  const said = `${agent}${rule === null ? '' : ` ${rule}`}, confidence ${confidence}${until}`
  const shown = text === '' ? '' : `    ${visible(text)}\n`
  return `${visibleName(path)}:${line}: ${severity}: ${onOneLine(claim)} (${said})\n${shown}`
}

function summaryOf(findings: readonly FindingView[]): string {
  if (findings.length === 0) return 'no findings'
  const counts = FindingSeverity.options.flatMap((severity) => {
    const count = findings.filter((one) => one.severity === severity).length
    return count === 0 ? [] : [plural(count, severity)]
  })
  return `${plural(findings.length, 'finding')}: ${counts.join(', ')}`
}
