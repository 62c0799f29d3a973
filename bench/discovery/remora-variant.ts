import { discoverFolder } from '#stages/discover/discover-folder.ts'
import { reportVariant } from './report-variant.ts'

/** Discovery as `remora discover` does it: every kind of the pack, names, ranges, hashes and ids. */
const [root = '.', indexDir = ''] = process.argv.slice(2)
await reportVariant(async () => {
  const filters = { languages: ['python'], maxFileBytes: 100_000_000 }
  const { nodes, files } = await discoverFolder(root, { filters, indexDir }, new AbortController().signal)
  return { files, nodes: nodes.filter((node) => node.kind !== 'file').length }
})
