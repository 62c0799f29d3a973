import { afterAll } from 'vitest'
import { openTestLinter } from '#languages/lint/test-linter.fixture.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { openEvidenceChecker } from './evidence-checker.ts'
import { openSyntaxChecker } from './syntax-evidence.ts'

/** What evidence is made with, closed behind the last test of the file. */
export async function testEvidence({ searchPath = '', limitMs }: { searchPath?: string; limitMs?: number } = {}) {
  const [linter, python] = [await openTestLinter({ searchPath }), await loadLanguage('python')]
  const syntax = openSyntaxChecker(limitMs === undefined ? {} : { limitMs })
  afterAll(() => Promise.all([linter.close(), syntax.close()]))
  return { linter, python, syntax, checker: openEvidenceChecker({ linter, python, syntax }) }
}
