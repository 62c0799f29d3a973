import { execFileSync } from 'node:child_process'
import { readFile, glob } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '#domain/ids.ts'
import { describedBy } from '#languages/python/docstring-parameters.ts'
import { docstringContent, docstringSiteOf } from '#languages/python/docstring-site.ts'
import { emptyWording } from '#languages/comments/empty-wording.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { docstringFor } from '#agents/docstring/host/rehearsal/docstring-template.ts'
import { Signature } from '#agents/docstring/host/rehearsal/signature.ts'
import { describeDefinition } from '#stages/operate/tools/externals/describe-definition.ts'

/**
 * `node bench/wording-bench.ts`: what `says_something` refuses of 500 docstrings that people wrote, drawn from the standard library of
 * `python3` by their hash, and of 500 that the rehearsal model writes for the same definitions, in all four styles. With `--show`
 * it prints what it refuses of the former and lets pass of the latter.
 */
const sample = 500
const isShown = process.argv.includes('--show')
const library = execFileSync('python3', ['-c', 'import sysconfig; print(sysconfig.get_path("stdlib"))'])
  .toString()
  .trim()
const version = execFileSync('python3', ['-c', 'import platform; print(platform.python_version())']).toString().trim()
const python = await loadLanguage('python')

type Pair = {
  key: string
  name: string
  human: string
  humanFault: string | undefined
  made: string
  madeFault: string | undefined
}
const styles = ['google', 'numpy', 'sphinx', 'plain'] as const
const pairs: Pair[] = []
for await (const path of glob('**/*.py', { cwd: library })) {
  if (/(?:^|\/)(?:tests?|idle_test|site-packages|lib2to3|test_\w+)(?:\/|$)/.test(path)) continue
  const source = await readFile(join(library, path), 'utf8').catch(() => '')
  python.read(source, (tree) => {
    for (const node of tree.rootNode.descendantsOfType(['function_definition', 'class_definition'])) {
      const site = node === null ? undefined : docstringSiteOf(node)
      if (site?.docstring === undefined) continue
      const subject = describedBy(site)
      const key = sha256(`${path} ${site.definition.startIndex}`)
      const style = styles[Number.parseInt(key.slice(0, 4), 16) % styles.length]
      const human = docstringContent(site.docstring)
      const made = docstringFor(Signature.parse({ ...describeDefinition(site), style }))
      const faults = { humanFault: emptyWording(human, subject), madeFault: emptyWording(made, subject) }
      pairs.push({ key, name: `${path} ${subject.name}`, human, made, ...faults })
    }
  })
}
const drawn = pairs.toSorted((one, other) => (one.key < other.key ? -1 : 1)).slice(0, sample)
const refused = drawn.filter(({ humanFault }) => humanFault !== undefined)
const passed = drawn.filter(({ madeFault }) => madeFault === undefined)
if (isShown) {
  for (const { name, human, humanFault } of refused)
    console.log(`refused: ${name}: ${JSON.stringify(human)}: ${humanFault}`)
  for (const { name, made } of passed) console.log(`let pass: ${name}: ${JSON.stringify(made)}`)
}
const share = (part: number) => `${((100 * part) / drawn.length).toFixed(1)} %`
console.log(`Python ${version}, ${drawn.length} of ${pairs.length} docstrings of the standard library`)
console.log(`refused of those that people wrote: ${refused.length} (${share(refused.length)})`)
console.log(
  `refused of those of the rehearsal model: ${drawn.length - passed.length} (${share(drawn.length - passed.length)})`,
)
