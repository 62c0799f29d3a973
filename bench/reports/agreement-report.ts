import { grammarVersion, parserVersion } from '#languages/syntax/grammars.ts'
import { type Agreement, grammarFaults } from '../agreement/measure-agreement.ts'
import { type Column, sectionHead, table } from './markdown-report.ts'

export type AgreementOf = Agreement & { name: string; python: string }

type Row = { name: string; python: string; files: number; definitions: number; agreed: number }

const columns: readonly Column<Row>[] = [
  ['', ({ name }) => name],
  ['Python', ({ python }) => python],
  ['files', ({ files }) => files],
  ['definitions', ({ definitions }) => definitions],
  ['the same', ({ agreed }) => agreed],
  ['agreement', ({ agreed, definitions }) => percent(agreed, definitions)],
]

/** results/python-agreement.md */
export function renderAgreement(rounds: readonly AgreementOf[]): string {
  const facts = [`Node ${process.version}`, grammarVersion('python'), parserVersion()]
  const command = 'node bench/python-agreement-bench.ts'
  return `${sectionHead("Python definitions against Python's own ast", { command, facts })}
Every class, function and method that \`remora discover\` finds, file by file, against the \`ast\` module of the Python named:
the same kind, qualified name, lines and bytes. Decorators belong to what they decorate; a function is a method when
its nearest enclosing definition is a class; names are compared in form NFKC, as Python compares them.

${table(columns, rounds.flatMap(rowsOf))}
${rounds.map(details).join('')}`
}

/** The paths with differences that no fault of the grammar explains. */
export function unexplained({ differences }: Pick<Agreement, 'differences'>): string[] {
  return [...new Set(differences.map(({ path }) => path))].filter((path) => grammarFaults[path] === undefined)
}

/** All files, and where the grammar has faults, all but those. */
function rowsOf(round: AgreementOf): Row[] {
  const { faulty } = round
  if (faulty.files === 0) return [round]
  const sound = {
    name: 'without the faults of the grammar below',
    python: round.python,
    files: round.files - faulty.files,
    definitions: round.definitions - faulty.definitions,
    agreed: round.agreed - faulty.agreed,
  }
  return [round, sound]
}

/** Never rounded up to 100 %. */
function percent(part: number, whole: number): string {
  if (part === whole) return '100 %'
  return `${(Math.floor((part / whole) * 1e6) / 1e4).toFixed(4)} %`
}

/** Names each file that differs; the differences themselves only where no fault of the grammar explains them. */
function details({ differences, apart }: AgreementOf): string {
  const lines = Array.from(
    Map.groupBy(differences, ({ path }) => path),
    ([path, ofPath]) => {
      const fault = grammarFaults[path]
      const line = `- \`${path}\`, ${ofPath.length} differences, `
      if (fault !== undefined) return `${line}a fault of the grammar: ${fault}`
      return [`${line}not explained:`, ...ofPath.map(({ text }) => `  - ${text}`)].join('\n')
    },
  )
  return ['', ...lines, `- ${apartText(apart)}`, ''].join('\n')
}

function apartText(apart: Agreement['apart']): string {
  const counts = Array.from(
    Map.groupBy(apart, ({ reason }) => reason.split(':')[0] ?? reason),
    ([reason, ofReason]) => `${ofReason.reduce((sum, { files }) => sum + files, 0)} × ${reason}`,
  )
  return `Python files that are not compared: ${counts.join(', ') || 'none'}`
}
