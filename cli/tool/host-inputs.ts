import { bundleInvalid } from '#bundles/bundle-fault.ts'
import { bundleOfScript } from '#bundles/bundle-of-script.ts'
import { resolveSettings } from '#bundles/resolve-settings.ts'
import { virtualFiles } from '../../services/worker/tools/virtual-files.ts'
import type { TargetNode } from '../../services/worker/tools/target-node.ts'
import type { Workspace } from '../../services/worker/workspace/open-workspace.ts'

/**
 * What a worker would fill in by itself: the node's when there is one, of `files` its own alone, and the settings' defaults when the script lies in a
 * bundle. AGENT_001 when that bundle's file is broken, where `wanted` has the settings.
 */
export async function hostInputs(
  script: string,
  wanted: ReadonlySet<string>,
  { target, workspace }: { target: TargetNode | undefined; workspace: Workspace },
): Promise<Record<string, unknown>> {
  const settings = wanted.has('settings') ? await defaultSettings(script) : undefined
  return {
    workspace_id: 'tool-run',
    ...(settings === undefined ? {} : { settings }),
    ...(target === undefined ? {} : await nodeInputs(target, workspace)),
  }
}

async function defaultSettings(script: string): Promise<Record<string, unknown> | undefined> {
  const bundle = await bundleOfScript(script)
  if (bundle === undefined) return undefined
  const { file, faults } = bundle.yaml
  if (file === undefined) throw bundleInvalid(faults)
  return resolveSettings({ file }, {})
}

async function nodeInputs(target: TargetNode, workspace: Workspace): Promise<Record<string, unknown>> {
  const { source, start, end } = await target.locate()
  const { node } = target
  return {
    node_text: source.slice(start, end),
    node_name: node.name,
    node_kind: node.kind,
    node_id: node.nodeId,
    file_path: node.path,
    files: await virtualFiles(workspace, [node.path]),
    language: node.language,
  }
}
