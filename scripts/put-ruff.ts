/** Puts the pinned Ruff at the path that is given, for the image of the services: node scripts/put-ruff.ts PATH */
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pinnedRuff, ruff } from '#platform/known-programs.ts'
import { obtainProgram } from '#platform/obtain-program.ts'
import { programCache } from '#platform/program-cache.ts'

const [target = 'ruff'] = process.argv.slice(2)
const { path, version, lack } = await obtainProgram(ruff, {
  searchPath: process.env['PATH'] ?? '',
  programDir: programCache(process.env),
  mayInstall: true,
  isRoot: process.getuid?.() === 0,
  env: process.env,
  say: (line) => void process.stderr.write(`${line}\n`),
  signal: new AbortController().signal,
})
if (version !== pinnedRuff) throw new Error(lack ?? `there is only Ruff ${version} at ${path}`)
await mkdir(dirname(target), { recursive: true })
await copyFile(path, target)
