import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { maxSelectedNodes } from '#domain/run.ts'
import type { SkipKind } from '#domain/skip-kind.ts'
import { discoverFolder } from '../../services/discovery/discover/discover-folder.ts'
import type { CliContext } from '../cli-context.ts'
import { plural } from '../plural.ts'
import { programCache } from '#platform/program-cache.ts'
import { visible } from '../visible.ts'
import { compareSince } from './compare-since.ts'
import { earlierNodes } from './earlier-nodes.ts'

/** What a run is limited to besides; `exclude` adds to the settings'. */
type Since = {
  since: string
  paths?: readonly string[]
  exclude?: readonly string[]
  languages?: readonly string[]
  kinds?: readonly string[]
  include?: readonly SkipKind[]
}

/**
 * The ids of the nodes of `folder` whose text is new since `since` (see `earlierNodes` for what it may name): added, changed,
 * renamed, or in a file that was not looked into then. A node that was only moved is not among them. How many there are is printed
 * on stderr. DISC_005 for what is no folder or no revision (the first is wrong usage), INTAKE_003 for more nodes than a request may name.
 */
export async function changedNodes(folder: string, wanted: Since, context: CliContext): Promise<string[]> {
  const { since } = wanted
  const stats = await stat(folder)
  if (!stats.isDirectory()) {
    throw new AppError('DISC_005', `--since needs a folder, and ${folder} is none`, { phase: 'usage' })
  }
  const options = discoveryOptions(wanted, context)
  const earlier = await earlierNodes(folder, since, options, context.signal)
  const found = await discoverFolder(folder, options, context.signal)
  const { added, changed, moved, notCompared } = await compareSince(folder, earlier, found)
  const renamed = moved.flatMap(({ from, to }) => (from.hash === to.hash ? [] : [to]))
  const unknown = new Set(notCompared)
  const nodes = [...added, ...changed, ...renamed, ...found.nodes.filter(({ path }) => unknown.has(path))]
  const ids = [...new Set(nodes.map(({ nodeId }) => nodeId))]
  const files = new Set(nodes.map(({ path }) => path))
  const what = `${plural(ids.length, 'node')} in ${plural(files.size, 'file')}`
  context.io.err(visible(`since ${since}: ${what} added or changed\n`))
  if (ids.length <= maxSelectedNodes) return ids
  const most = `a run can be limited to ${maxSelectedNodes.toLocaleString('en-US')} nodes`
  throw new AppError(
    'INTAKE_003',
    `since ${since} ${what} changed, and ${most}: name fewer with --paths, or leave --since out`,
  )
}

function discoveryOptions({ paths, exclude = [], languages, kinds, include }: Since, { config }: CliContext) {
  const { discovery, queries } = config
  const cache = programCache(config.settings.own)
  return {
    filters: {
      exclude: [...discovery.exclude, ...exclude],
      maxFileBytes: discovery.maxFileBytes,
      ...(paths && { paths }),
      ...(languages && { languages }),
      ...(kinds && { nodeKinds: kinds }),
      ...(include && { include }),
    },
    packs: queries,
    threads: discovery.threads,
    ...(cache !== undefined && { indexDir: join(cache, 'discover') }),
  }
}
