import { expect, it } from 'vitest'
import { filesMatching, isTestFile, readRepositoryFile } from './source-files.ts'

/** These begin a comment that is no sentence. One that has its own subject and verb all the same counts too: the plain order is easier to read. */
const fragment =
  /^(?:What|Of|Where|Whether|How|Why|Which|Who|Whose|Those|That|By|As|For|From|With|Without|In|At|On|To)\b/

type Kind = 'product' | 'test' | 'beside'

function kindOf(path: string): Kind {
  if (isTestFile(path)) return 'test'
  return /^(?:bench|examples|scripts|dashboard)\//.test(path) ? 'beside' : 'product'
}

/** The text of each doc comment, without its stars. */
function docComments(text: string): string[] {
  return [...text.matchAll(/\/\*\*([\s\S]*?)\*\//g)].map(([, inner = '']) => inner.replaceAll(/^\s*\*/gm, '').trim())
}

it("the house's size is printed", () => {
  const code = filesMatching('**/*.{ts,tsx,lua,mjs}').map((path) => ({ path, text: readRepositoryFile(path) }))
  const of = (kind: Kind) => code.filter(({ path }) => kindOf(path) === kind)
  const lines = (kind: Kind) => of(kind).reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
  const comments = of('product').flatMap(({ text }) => docComments(text))
  const fragments = comments.filter((comment) => fragment.test(comment)).length
  const words = filesMatching('**/*.md').reduce((sum, path) => sum + readRepositoryFile(path).split(/\s+/).length, 0)
  const figures = [
    `${lines('product')} lines of product (≤ 85000); bench, examples and scripts: ${lines('beside')}`,
    `${lines('test')} lines of tests, fixtures and testing/ (≤ 70000)`,
    `${words} words of Markdown (≤ 75000)`,
    `${((100 * fragments) / comments.length).toFixed(1)} % of ${comments.length} doc comments begin with a fragment (≤ 5)`,
  ]
  for (const figure of figures) process.stdout.write(`\naim: ${figure}\n`)
  expect(of('product').length).toBeGreaterThan(500)
})
