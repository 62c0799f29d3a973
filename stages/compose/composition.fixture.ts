import { openTestLinter } from '#languages/lint/test-linter.fixture.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { openSnapshotReader } from '#store/objects/snapshot.ts'
import { getChangeSets } from '#store/objects/stored-records.ts'
import { openSandbox, type Sandbox } from '#sandbox/open-sandbox.ts'
import { usualLimits } from '#sandbox/sandbox.fixture.ts'
import { openSnapshotArchives, storedFiles } from '#sandbox/snapshot-archives.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { testLedger } from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'
import { openEvidenceChecker } from '#stages/operate/evidence/evidence-checker.ts'
import { openRunRules } from '#stages/operate/evidence/run-rules.ts'
import { openSyntaxChecker } from '#stages/operate/evidence/syntax-evidence.ts'
import type { CompositionDeps } from './compose-run.ts'

export type TestComposition = Awaited<ReturnType<typeof testComposition>>

/** What composes runs and patches, over a real ledger and real objects; without `sandbox` no program of a gate runs. */
export async function testComposition(sandbox: Sandbox = openSandbox({ searchPath: '' })) {
  const test = await testLedger()
  const store = await testObjects()
  const linter = await openTestLinter()
  const syntax = openSyntaxChecker()
  const python = await loadLanguage('python')
  const { objects } = store
  const blobs = openBlobStore(objects, { maxCacheBytes: 0 })
  const snapshot = openSnapshotReader(objects)
  const deps: CompositionDeps = {
    ledger: test.ledger,
    programs: {
      sandbox,
      limits: usualLimits,
      archive: openSnapshotArchives(storedFiles(snapshot, blobs)).open,
      environment: async () => ({}),
      snapshot,
      gateLimitS: 60,
    },
    python,
    objects,
    blobs,
    evidence: openEvidenceChecker({ linter, python, syntax }),
    runRules: openRunRules({ objects, blobs, linter }),
    readSets: (project, hash) => getChangeSets(objects, project, hash),
    workerId: 'w1',
  }
  return {
    test,
    store,
    deps,
    async close() {
      await test.close()
      await store.close()
      await linter.close()
      await syntax.close()
    },
  }
}
