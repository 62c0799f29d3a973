import type { Workspace } from '../workspace/open-workspace.ts'
import { WorkspaceFault } from '../workspace/workspace-fault.ts'

const maxFiles = 20
/** UTF-16 units of all files together. */
const maxCharacters = 500_000

/**
 * What a script's input `files` holds (features.md G5): path → text as the workspace has it now, of the first of `paths`
 * that fit. One that is too large, no text, or not there is simply absent.
 */
export async function virtualFiles(
  workspace: Pick<Workspace, 'readText'>,
  paths: readonly string[],
): Promise<Record<string, string>> {
  const files = new Map<string, string>()
  let characters = 0
  for (const path of new Set(paths)) {
    if (files.size === maxFiles) break
    const text = await textOf(workspace, path)
    if (text === undefined || characters + text.length > maxCharacters) continue
    characters += text.length
    files.set(path, text)
  }
  return Object.fromEntries(files)
}

async function textOf(workspace: Pick<Workspace, 'readText'>, path: string): Promise<string | undefined> {
  try {
    return await workspace.readText(path)
  } catch (error) {
    if (error instanceof WorkspaceFault) return undefined
    throw error
  }
}
