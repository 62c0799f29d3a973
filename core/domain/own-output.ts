import { RunId } from '#domain/ids.ts'

/**
 * The stack's data folder, what of it tells how to reach the stack, wherever it is kept, the files a patch grows in, and
 * patches under their default names.
 */
const ownNames = /^\.remora$|^stack-access\.json|^stack\.(?:lock|log)$|^\.remora-[^/]*\.part$|^remora-(.+)\.patch$/

/** Whether a file or folder of this name is our own state or result: never a part of anybody's repository. */
export function isOwnOutput(name: string): boolean {
  const found = ownNames.exec(name)
  if (found === null) return false
  const [, runId] = found
  return runId === undefined || RunId.safeParse(runId).success
}
