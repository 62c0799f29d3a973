import type { Command } from 'commander'
import { withoutLogins } from '#platform/hide-secrets.ts'
import { packageVersion } from '#platform/package-version.ts'
import { findPackager } from '#platform/packager.ts'
import type { CliContext } from '../cli-context.ts'
import {
  examineData,
  examineDisk,
  examineMemory,
  examineNode,
  examineRunSettings,
  examineSettings,
  examineStack,
  examineVersions,
} from '../doctor/examine-machine.ts'
import { examineGithub } from '../doctor/examine-github.ts'
import { examineGit, examineGofmt, examineRedis, examineRuff, examineSandbox } from '../doctor/examine-programs.ts'
import { examineApi, examineModels, examineRedisServer, examineS3 } from '../doctor/examine-services.ts'
import { isTolerable, type Diagnosis } from '../doctor/diagnosis.ts'
import { openPaint, type Paint, visible } from '../terminal-text.ts'

/** `remora doctor`: what this machine has and lacks. Exit code 1 when something needed is missing. */
export function addDoctorCommand(command: Command, context: CliContext): void {
  command.option('--json', 'print one JSON document').action(async ({ json }: { json?: true }) => {
    const diagnoses = await examine(context, packageVersion())
    const ok = diagnoses.every(isTolerable)
    const paint = openPaint(context.colored)
    context.io.out(json ? `${JSON.stringify({ ok, findings: diagnoses })}\n` : describe(diagnoses, paint))
    if (!ok) context.io.exit(1)
  })
}

async function examine({ config, signal, cwd }: CliContext, version: string): Promise<Diagnosis[]> {
  const { searchPath, dataDir, settings } = config
  const isRoot = process.getuid?.() === 0
  const packager = await findPackager({ searchPath, isRoot, signal, env: settings.own })
  const search = { config, packager, signal }
  const examined = await Promise.all([
    examineRedis(search),
    examineRedisServer(config, signal),
    examineS3(config, signal),
    examineApi(config, signal),
    examineModels(config, signal),
    examineGithub(config, signal),
    examineSandbox(search),
    examineGit(search),
    examineRuff(search),
    examineGofmt(search),
    examineDisk(dataDir),
    examineData(dataDir),
    examineStack(dataDir),
    examineVersions(version),
  ])
  const ofSettings = [examineSettings(config, cwd), ...(await examineRunSettings(config))]
  return [...ofSettings, examineNode(), examineMemory(), ...examined.flat()]
}

const tones = { ok: 'green', warning: 'yellow', missing: 'red' } as const

function describe(diagnoses: readonly Diagnosis[], paint: Paint): string {
  const width = Math.max(...diagnoses.map(({ name }) => name.length))
  const lines = diagnoses.map(({ name, state, needed, found, advice }) => {
    const what = `${found}${state === 'missing' && !needed ? ' (optional)' : ''}${advice === undefined ? '' : `: ${advice}`}`
    return `${paint(tones[state], state.padEnd(7))}  ${name.padEnd(width)}  ${visible(withoutLogins(what))}`
  })
  return `${lines.join('\n')}\n`
}
