import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { measureAgreement } from './agreement/measure-agreement.ts'
import { findPython } from './agreement/python-ast.ts'
import { saveReport } from './reports/markdown-report.ts'
import { type AgreementOf, renderAgreement, unexplained } from './reports/agreement-report.ts'

/**
 * `node bench/python-agreement-bench.ts [FOLDER…] [--python PROGRAM]`: how far our definitions of Python agree with its
 * own ast module. Without a folder: over the standard library of that Python, and writes results/python-agreement.md.
 * With `--quick`, over its asyncio alone, or with folders, it only prints. Fails when a difference is not explained; where there
 * is no Python, it says so.
 */
const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, python: { type: 'string', default: 'python3' } },
  allowPositionals: true,
})

const python = await findPython(values.python)
if (python === undefined) console.log(`there is no ${values.python} here: nothing to agree with`)
else {
  const library = { name: 'the standard library', folder: python.library }
  const quick = { name: 'asyncio', folder: `${python.library}/asyncio` }
  const named = positionals.map((folder) => ({ name: basename(folder), folder }))
  const rounds: AgreementOf[] = []
  for (const { name, folder } of named.length > 0 ? named : [values.quick ? quick : library]) {
    const agreement = await measureAgreement(folder, values.python)
    rounds.push({ ...agreement, name, python: python.version })
  }
  const text = renderAgreement(rounds)
  await saveReport('python-agreement', text, { quick: values.quick || named.length > 0 })
  if (rounds.some((round) => unexplained(round).length > 0)) process.exitCode = 1
}
