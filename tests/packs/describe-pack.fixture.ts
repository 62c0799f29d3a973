import { describe, expect, it } from 'vitest'
import { openOutline } from '#stages/discover/outline.fixture.ts'

/** The name of a case, the source, and its outline as `kind qualified.name first-last line`. */
export type OutlineCase = [name: string, source: string, nodes: string[]]

/** Tests what the built-in pack of a language finds, whether lines end with LF or with CRLF. */
export function describePack(language: string, cases: readonly OutlineCase[]): void {
  describe(`the ${language} pack`, async () => {
    const outline = await openOutline(language)

    it.each(cases)('finds %s', (_name, source, nodes) => {
      expect(outline.of(source)).toEqual(nodes)
      expect(outline.of(source.replaceAll('\n', '\r\n'))).toEqual(nodes)
    })
  })
}
