/** Script inputs of these names are filled in by the host, whatever the tool; the model never sees them. */
export const hostInputNames: ReadonlySet<string> = new Set([
  'node_text',
  'node_name',
  'node_kind',
  'node_id',
  'file_path',
  'files',
  'workspace_id',
  'language',
  'settings',
])
