import type { TestFunction } from '#stages/operate/evidence/test-functions.ts'

const ofNonsense =
  /^(?:Exception|BaseException|(?:Type|Attribute|Key|Index|Name|UnboundLocal|Recursion|ZeroDivision|Reference|Range|Lookup|Arithmetic)Error)$/

/** A call that expects errors, or a handler of them in a test: it passes with each. */
const pythonErrors =
  /(?:\b(?:assertRaises|assertRaisesRegex|raises)\(\s*(?:(?:expected_)?exception\s*=\s*)?|^[ \t]*except\b[ \t]*)(\([^()]*\)|[\w.]+|:)/gm
const scriptThrows = /(?:\b(?:throws|rejects)\s*\(|\.toThrow(?:Error)?\(\s*([A-Z]\w*)?)/g
/** What is only spoken of is not thrown. */
const scriptComments = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g
const scriptType = /,\s*(?:\{\s*name:\s*['"])?([A-Z]\w*Error)\b/

/** Finds tests that state a crash: an error that nothing in the code's file raises, catches or names is no promise. */
export function pinnedCrashes(
  tests: readonly TestFunction[],
  { text, source, isPython }: { text: string; source: string; isPython: boolean },
): { test: TestFunction; error: string }[] {
  const names = new Set((isPython ? source : source.replaceAll(scriptComments, '')).match(/\w+/g))
  const isMeant = (error: string) => names.has(error) || (!isPython && names.has('throw'))
  return tests.flatMap((test) => {
    const body = text.slice(test.start, test.end)
    const errors = isPython ? errorsInPython(body) : scriptErrors(body)
    const error = errors.find((name) => ofNonsense.test(name) && !isMeant(name))
    return error === undefined ? [] : [{ test, error }]
  })
}

function errorsInPython(body: string): string[] {
  return Array.from(body.matchAll(pythonErrors), ([, named = '']) =>
    named === ':' ? ['BaseException'] : Array.from(named.matchAll(/(?:\w+\.)*(\w+)/g), ([, name = '']) => name),
  ).flat()
}

function scriptErrors(body: string): string[] {
  return Array.from(body.matchAll(scriptThrows), ({ 1: name, index }) => {
    return name ?? scriptType.exec(body.slice(index, index + 500))?.[1] ?? 'Exception'
  })
}
