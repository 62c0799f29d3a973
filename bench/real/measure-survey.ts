import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { putProgramOnPath } from '#testing/put-program-on-path.ts'
import { ruff } from '#platform/known-programs.ts'
import type { RealTree } from '../subjects/real-trees.ts'
import { type CommandFigures, measureCommand } from './measure-command.ts'

export type SurveyFigures = Record<'discover' | 'dryRun' | 'astGrep' | 'linter', CommandFigures>

const pathOf = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))
const program = pathOf('cli/remora.mjs')

/** Gives the linter's own command for what Remora checks where a repository says nothing. */
const linters: Record<RealTree['linter'], [string, ...string[]]> = {
  ruff: ['ruff', 'check', '--isolated', '--no-cache', '--exit-zero', '--quiet', '--select', 'F,E9,W605,E713,E714'],
  oxlint: [process.execPath, pathOf('node_modules/oxlint/bin/oxlint'), '--quiet', '--format', 'unix'],
}

/** Finding the nodes, a dry run of lint and docstring, and two programs that do a part of it: each once, with nothing kept from before. */
export async function measureSurvey(tree: RealTree, dir: string): Promise<SurveyFigures> {
  const { folder, language, linter } = tree
  const once = async (...argv: [string, ...string[]]) => {
    const place = join(dir, 'home')
    await rm(place, { recursive: true, force: true })
    await mkdir(place, { recursive: true })
    return measureCommand(argv, { place, env: { NODE_COMPILE_CACHE: join(dir, 'compiled') } })
  }
  await putProgramOnPath(ruff, process.env)
  const dryRun = ['--agents', 'lint,docstring', '--dry-run', '--model', 'rehearsal']
  return {
    discover: await once(process.execPath, program, 'discover', folder, '--no-cache'),
    dryRun: await once(process.execPath, program, 'run', folder, ...dryRun),
    astGrep: await once(process.execPath, pathOf('bench/discovery/ast-grep-variant.ts'), folder, language),
    linter: await once(...linters[linter], folder),
  }
}
