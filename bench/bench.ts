import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { redisServer, ruff } from '#platform/known-programs.ts'
import { putProgramOnPath } from '#testing/put-program-on-path.ts'
import { assembleResults, benches, resultSections } from './assemble-results.ts'

/**
 * `npm run bench`: every bench in turn, each into its own section, then RESULTS.md, which links them. Takes about an hour on
 * a quiet machine. `--only NAME` runs one; with `--quick`, a smoke test, they only print.
 * `--packages a,b` is for `repositories`, `gate` and `agents`, `--limit N` for `real`. A missing Redis is obtained as by `remora run`.
 */
const { quick, only, packages, limit } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    packages: { type: 'string' },
    limit: { type: 'string' },
  },
}).values

const chosen = benches.filter((name) => only === undefined || only === name)
if (chosen.length === 0) throw new Error(`there is no bench "${only}", only ${benches.join(', ')}`)
await putProgramOnPath(redisServer, process.env)
await putProgramOnPath(ruff, process.env)
for (const name of chosen) {
  console.log(`== ${name}`)
  const entry = fileURLToPath(new URL(`${name}-bench.ts`, import.meta.url))
  const some =
    packages !== undefined && ['repositories', 'gate', 'agents'].includes(name) ? ['--packages', packages] : []
  const few = limit !== undefined && name === 'real' ? ['--limit', limit] : []
  const args = [entry, ...(quick ? ['--quick'] : []), ...some, ...few]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
if (!quick) await writeFile(new URL('RESULTS.md', import.meta.url), await assembleResults(resultSections))
