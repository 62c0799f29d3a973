import { type BaseFiles, openBase, setOf } from '#stages/publish/composed.fixture.ts'
import { plantedSecrets } from '#testing/planted-secrets.ts'
import { composeRun, type PlayedEnding, playedSetId, playRun } from '../../services/api/played-run.fixture.ts'
import type { TestApi } from '../../services/api/app.fixture.ts'

export const source = 'import os\n\n\ndef f():\n    return 1\n'
const [secret] = plantedSecrets
/** What the runs are of. */
export const files: BaseFiles = {
  'conf.py': `token = ${secret?.code}\nport = 1\n`,
  'a.py': source,
  'crlf.txt': 'one\r\ntwo\r\n',
  'run.sh': { content: 'echo\n', executable: true },
}
export const base = openBase(files)
/** Of three agents, on texts, a new file, a deleted one and one with a secret. */
export const endings: PlayedEnding[] = [
  { name: 'imports', changes: [base.editing('a.py', ['import os\n\n\n', ''])] },
  {
    name: 'f',
    agent: 'docstring',
    builtOn: ['imports'],
    changes: [base.editing('a.py', ['import os\n\n\ndef f():\n', 'def f():\n    """F."""\n'])],
  },
  { name: 'new', agent: 'test', changes: [base.creating('tests/tést.sh', 't\n', true), base.deleting('run.sh')] },
  { name: 'lines', agent: 'test', changes: [base.editing('crlf.txt', ['two', 'zwei'])] },
  { name: 'port', agent: 'lint', changes: [base.editing('conf.py', ['port = 1', 'port = 2'])] },
]

/** A run that has ended with these changes, on which nobody has decided. */
export async function proposing(api: TestApi, all: readonly PlayedEnding[]): Promise<string> {
  const tree = Object.entries(files).map(([path, file]) => [
    path,
    typeof file === 'string' ? { content: file, executable: false } : file,
  ])
  const runId = await playRun(api, all, { tree: Object.fromEntries(tree) })
  const sets = all.flatMap((ending) => {
    if (!('changes' in ending)) return []
    const needed = all.filter(({ name }) => ending.builtOn?.includes(name)).map((one) => playedSetId(one, all))
    return [setOf(playedSetId(ending, all), ending.agent ?? 'lint', ending.changes, needed)]
  })
  const { composition, readBlob } = base.composed(sets)
  for (const { baseHash, resultHash } of composition.files) {
    for (const hash of [baseHash, resultHash]) {
      if (hash !== null) await api.blobs.put(api.project, await readBlob(hash))
    }
  }
  await composeRun(api, runId, { files: [...composition.files] })
  return runId
}
