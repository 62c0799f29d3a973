import { RunId } from '#domain/ids.ts'

/** The stack's data folder and the files a patch grows in (`.remora-….part`), and patches under their default names. */
const ownNames = /^\.remora$|^\.remora-[^/]*\.part$|^remora-(.+)\.patch$/

/** Whether a file or folder of this name is our own state or result: never a part of anybody's repository. */
export function isOwnOutput(name: string): boolean {
  const found = ownNames.exec(name)
  if (found === null) return false
  const [, runId] = found
  return runId === undefined || RunId.safeParse(runId).success
}
