import { rmSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bareEnv } from '#platform/child-env.ts'
import { findProgram, runProgram } from '#platform/run-program.ts'
import type { CliContext } from './cli-context.ts'

export type PageAccess = { url: string; token: string | undefined }

/** Returns the address of the page, or of a run on it. What stands after the `#` stays in the browser, and the page takes the token out of it. */
export function pageLink({ url, token }: PageAccess, runId?: string): string {
  const place = runId === undefined ? '#/runs' : `#/runs/${runId}`
  return `${url.replace(/\/$/, '')}/${place}${token === undefined ? '' : `&token=${encodeURIComponent(token)}`}`
}

/**
 * Shows a run in a browser of this machine, or says where it can be seen. The browser is given a file that leads to the page, and is readable by this user alone: arguments
 * of programs can be read by every user of the machine.
 */
export async function showPage(access: PageAccess | undefined, runId: string, context: CliContext): Promise<void> {
  if (access === undefined) return
  const link = pageLink(access, runId)
  const folder = await mkdtemp(join(tmpdir(), 'remora-page-'))
  const file = join(folder, 'open.html')
  // The link has no character that means something in HTML but `&`.
  const text = `<!doctype html><meta http-equiv="refresh" content="0; url=${link.replaceAll('&', '&amp;')}">`
  await writeFile(file, text, { mode: 0o600 })
  // It holds the token, which may outlive this command.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  if (!(await openBrowser(file, context))) context.io.err(`No browser could be opened. The run's page: ${link}\n`)
}

const openers = ['xdg-open', 'open']
const openerMs = 5_000

export async function openBrowser(address: string, { config, signal }: CliContext): Promise<boolean> {
  for (const name of openers) {
    const program = await findProgram(name, config.searchPath)
    if (program === undefined) continue
    const end = await runProgram([program, address], { limitMs: openerMs, signal, env: bareEnv(config.settings.own) })
    return end.kind === 'ended' && end.code === 0
  }
  return false
}
