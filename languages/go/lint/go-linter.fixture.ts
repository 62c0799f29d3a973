import type { Env } from '#platform/env.ts'
import { openGoLinter } from './go-linter.ts'

/** Whether this machine has a gofmt, and where; why it has none is also printed: what needs it is skipped then. */
export async function testGofmt(env: Env): Promise<{ searchPath: string; lack: string | undefined }> {
  const searchPath = env['PATH'] ?? ''
  const linter = await openGoLinter({ searchPath })
  const lack = await linter.lack()
  linter.close()
  if (lack !== undefined) process.stderr.write(`what needs gofmt is skipped: ${lack}\n`)
  return { searchPath, lack }
}
