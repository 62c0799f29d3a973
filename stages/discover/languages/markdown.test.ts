import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const markdown = await openOutline('markdown')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'sections over their bodies, nested by level',
    source: '# Top\n\nintro\n\n## Install\n\ntext\n\n### From Source\n\nmake\n\n## Use\n\nrun\n',
    nodes: [
      'section Top 1-15',
      'section Top.Install 5-11',
      'section Top.Install.From Source 9-11',
      'section Top.Use 13-15',
    ],
  },
  {
    name: 'no closing marks and no spaces in a name, but the marks within it',
    source: '#  Top  ##  \n## C# and `F#`\n### C #\n',
    nodes: ['section Top 1-3', 'section Top.C# and `F#` 2-3', 'section Top.C# and `F#`.C 3-3'],
  },
  {
    name: 'marked headings below an underlined one that is the first',
    source: 'Top\n===\n\n## A\n\n> ## Quoted\n\n### B\n\nNext\n====\n\n## C\n',
    nodes: [
      'section Top 1-8',
      'section Top.A 4-8',
      'section Top.A.Quoted 6-6',
      'section Top.A.B 8-8',
      'section Next 10-13',
      'section Next.C 13-13',
    ],
  },
  {
    name: 'underlined headings among the others',
    source: '# One\n\na\n\nTwo\n===\n\nb\n\nThree\nand more\n---\n\nc\n\n### Four\n',
    nodes: [
      'section One 1-3',
      'section Two 5-16',
      'section Two.Three and more 10-16',
      'section Two.Three and more.Four 16-16',
    ],
  },
  {
    name: 'levels that are left out',
    source: '### Deep\n\n# Top\n\n#### Deeper\n\n## Second\n',
    nodes: ['section Deep 1-1', 'section Top 3-7', 'section Top.Deeper 5-5', 'section Top.Second 7-7'],
  },
  {
    name: 'a heading in a quotation within it alone',
    source: '## Before\n\n> # Quoted\n>\n> text\n\nafter\n\n## Next\n',
    nodes: ['section Before 1-7', 'section Before.Quoted 3-5', 'section Next 9-9'],
  },
  {
    name: 'equal names and a heading of no text',
    source: '# A\n# A\n#\n',
    nodes: ['section A 1-1', 'section A 2-2', 'section section 3-3'],
  },
  { name: 'no heading in code', source: '```sh\n# install\n```\n', nodes: ['code_block sh 1-3'] },
  {
    name: 'code blocks by the first word of what they say they are',
    source: '# A\n\n```ts title="x"\na\n```\n\n~~~\n~~~\n\n- item\n\n  ```c++\n  b\n  ```\n\nx\n\n    indented\n',
    nodes: [
      'section A 1-18',
      'code_block A.ts 3-5',
      'code_block A.code 7-8',
      'code_block A.c++ 12-14',
      'code_block A.code 18-18',
    ],
  },
  {
    name: 'a code block that nothing closes',
    source: '# A\n\n```js\nx\n',
    nodes: ['section A 1-4', 'code_block A.js 3-4'],
  },
  {
    name: 'tables',
    source: '# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\ntext\n',
    nodes: ['section A 1-7', 'table A.table 3-5'],
  },
  {
    name: 'lines that end with CRLF',
    source: '# A\r\n\r\nx\r\n\r\n## B\r\n\r\ny\r\n',
    nodes: ['section A 1-7', 'section A.B 5-7'],
  },
  { name: 'nothing in plain text', source: 'just text\n\n---\n\nand more\n', nodes: [] },
]

describe('the markdown pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(markdown.of(source)).toEqual(nodes)
  })

  it('tells sections of one name apart', () => {
    const ids = markdown.nodesOf('# A\n## B\n# A\n## B\n').map(({ nodeId }) => nodeId)
    expect(new Set(ids).size).toBe(5)
  })

  it('keeps a section that is read from its bytes whole, whatever stands before it', () => {
    const section = '## Zwei 😀\r\n\r\nä → 😀\r\n\r\n```sh\r\nx\r\n```'
    for (const before of ['\uFEFF', '# 😀é\r\n\r\n', '\uFEFF# 𝔘\n\n> 😀\n\n']) {
      const bytes = new TextEncoder().encode(`${before}${section}\r\n\r\n## Next\r\n`)
      const node = markdown.nodesOf(bytes).find(({ name }) => name === 'Zwei 😀')
      expect(new TextDecoder().decode(bytes.subarray(node?.startByte, node?.endByte))).toBe(section)
    }
  })
})
