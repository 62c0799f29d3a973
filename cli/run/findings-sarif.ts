import { sha256 } from '#domain/ids.ts'
import { packageVersion } from '#platform/package-version.ts'
import type { FindingView } from '#schemas/finding-schema.ts'

/** Writes a SARIF 2.1.0 log. A rule is an agent and its kind of finding; a fingerprint stays while the lines of a file move. */
export function findingsSarif(runId: string, findings: readonly FindingView[]): object {
  const rules = [...new Set(findings.map(ruleOf))].toSorted()
  const indexOf = new Map(rules.map((id, index) => [id, index]))
  const results = findings.map((finding) => resultOf(finding, indexOf.get(ruleOf(finding)) ?? -1))
  const driver = { name: 'Remora', version: packageVersion(), rules: rules.map((id) => ({ id })) }
  const run = { tool: { driver }, automationDetails: { id: `remora/${runId}` }, columnKind: 'utf16CodeUnits', results }
  return { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] }
}

function ruleOf({ agent, rule }: FindingView): string {
  return rule === null ? agent : `${agent}/${rule}`
}

const levels: ReadonlySet<string> = new Set(['error', 'warning', 'note'])

function resultOf(finding: FindingView, ruleIndex: number): object {
  const { claim, path, line, end_line: endLine, line_text: text, severity, confidence } = finding
  const ruleId = ruleOf(finding)
  const region = { startLine: line, endLine }
  const uri = path.split('/').map(encodeURIComponent).join('/')
  return {
    ruleId,
    ruleIndex,
    level: levels.has(severity) ? severity : 'none',
    message: { text: claim },
    locations: [{ physicalLocation: { artifactLocation: { uri, uriBaseId: '%SRCROOT%' }, region } }],
    partialFingerprints: { 'remoraFinding/v1': sha256([ruleId, path, text, claim].join('\0')) },
    rank: Math.round(confidence * 1000) / 10,
    properties: { confidence, agent: finding.agent, operation_id: finding.operation_id },
  }
}
