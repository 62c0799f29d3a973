import { grammarVersion, parserVersion } from '#syntax/grammars.ts'
import { type Agreement, grammarFaults } from '../agreement/measure-agreement.ts'

export type AgreementOf = Agreement & { name: string; python: string }

/** How many files of one reason are named. */
const namedFiles = 12

export function renderAgreement(rounds: readonly AgreementOf[]): string {
  const today = new Date().toISOString().slice(0, 10)
  const versions = `Node ${process.version}, ${grammarVersion('python')}, ${parserVersion()}`
  return `# Python definitions against Python's own ast

Written by \`node bench/python-agreement-bench.ts\` on ${today}: ${versions}.

Every class, function and method that \`remora discover\` finds, file by file, against the \`ast\` module of the Python named:
the same kind, qualified name, lines and bytes. Decorators belong to what they decorate; a function is a method when
its nearest enclosing definition is a class; names are compared in form NFKC, as Python compares them.

| | Python | files | definitions | the same | agreement |
| --- | --- | --- | --- | --- | --- |
${rounds.flatMap(rows).join('\n')}
${rounds.map(details).join('')}`
}

/** The paths with differences that no fault of the grammar explains. */
export function unexplained({ differences }: Pick<Agreement, 'differences'>): string[] {
  return [...new Set(differences.map(({ path }) => path))].filter((path) => grammarFaults[path] === undefined)
}

/** All files, and where the grammar has faults, all but those. */
function rows(round: AgreementOf): string[] {
  const { name, python, files, faulty } = round
  const row = (what: string, count: number, { definitions, agreed }: { definitions: number; agreed: number }) =>
    `| ${what} | ${python} | ${count} | ${definitions} | ${agreed} | ${percent(agreed, definitions)} |`
  if (faulty.files === 0) return [row(name, files, round)]
  const sound = { definitions: round.definitions - faulty.definitions, agreed: round.agreed - faulty.agreed }
  return [row(name, files, round), row('without the faults of the grammar below', files - faulty.files, sound)]
}

/** Never rounded up to 100 %. */
function percent(part: number, whole: number): string {
  if (part === whole) return '100 %'
  return `${(Math.floor((part / whole) * 1e6) / 1e4).toFixed(4)} %`
}

function details({ name, differences, apart }: AgreementOf): string {
  const lines = Array.from(
    Map.groupBy(differences, ({ path }) => path),
    ([path, ofPath]) => {
      const fault = grammarFaults[path]
      const why = fault === undefined ? 'not explained' : `a fault of the grammar: ${fault}`
      return [
        `\`${path}\`, ${ofPath.length} differences, ${why}`,
        '',
        ...ofPath.map(({ text }) => `- ${text}`),
        '',
      ].join('\n')
    },
  )
  return `
## ${name}

${lines.length === 0 ? 'No difference.\n' : lines.join('\n')}${apartText(apart)}`
}

function apartText(apart: Agreement['apart']): string {
  if (apart.length === 0) return ''
  const lines = Array.from(
    Map.groupBy(apart, ({ reason }) => reason),
    ([reason, ofReason]) => {
      const files = ofReason.reduce((sum, one) => sum + one.files, 0)
      const names = ofReason.slice(0, namedFiles).map(({ path }) => `\`${path}\``)
      return `- ${files} × ${reason}: ${names.join(', ')}${ofReason.length > namedFiles ? ' …' : ''}`
    },
  )
  return `\nPython files that are counted apart:\n\n${lines.join('\n')}\n`
}
