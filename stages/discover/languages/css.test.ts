import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const css = await openOutline('css')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'rules by their selectors on one line',
    source: ':root,\na  >  b:hover { x: y }\n.c::before {\n  x: y;\n}\n',
    nodes: ['rule :root, a > b:hover 1-2', 'rule .c::before 3-5'],
  },
  {
    name: 'rules in rules and in media queries',
    source: '@media screen, (min-width: 1px)\nand (max-width: 2px) {\n  .d {\n    &:hover { x: y }\n  }\n}\n',
    nodes: [
      'media @media screen, (min-width: 1px) and (max-width: 2px) 1-6',
      'rule @media screen, (min-width: 1px) and (max-width: 2px) .d 3-5',
      'rule @media screen, (min-width: 1px) and (max-width: 2px) .d &:hover 4-4',
    ],
  },
  {
    name: 'other rules with a block as they are written',
    source:
      '@supports (display: grid) { a { x: y } }\n@font-face { x: y }\n@layer base { }\n@layer { }\n@scope (.x) to (.y) { a { x: y } }\n',
    nodes: [
      'at_rule @supports (display: grid) 1-1',
      'rule @supports (display: grid) a 1-1',
      'at_rule @font-face 2-2',
      'at_rule @layer base 3-3',
      'at_rule @layer 4-4',
      'at_rule @scope (.x) to (.y) 5-5',
      'rule @scope (.x) to (.y) a 5-5',
    ],
  },
  {
    name: 'keyframes',
    source: '@keyframes spin {\n  from { x: y }\n  50% { x: z }\n}\n@-webkit-keyframes spin { from { x: y } }\n',
    nodes: ['keyframes spin 1-4', 'keyframes spin 5-5'],
  },
  { name: 'nothing in rules without a block', source: '@charset "utf-8";\n@import url(x);\n@layer a, b;\n', nodes: [] },
  {
    name: 'what parses around a syntax error',
    source: '.a { x: y }\n.b { x: ]]; }\n.c { x: y }\n',
    nodes: ['rule .a 1-1', 'rule .c 3-3'],
  },
  {
    name: 'lines that end with CRLF',
    source: '/* 😀 */\r\n.a,\r\n.b {\r\n  x: y\r\n}\r\n',
    nodes: ['rule .a, .b 2-5'],
  },
]

describe('the css pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(css.of(source)).toEqual(nodes)
  })

  it('tells nodes of one name apart', () => {
    const ids = css.nodesOf('.a { x: y } .a { x: z }').map(({ nodeId }) => nodeId)
    expect(new Set(ids).size).toBe(3)
  })

  it('cuts a node out of its bytes behind a byte order mark and emoji', () => {
    const bytes = new TextEncoder().encode('\uFEFF/* 😀é */\r\n.a::before { content: "𝔘" }\r\n.b { content: "😀" }\r\n')
    const node = css.nodesOf(bytes).at(-1)
    expect(new TextDecoder().decode(bytes.subarray(node?.startByte, node?.endByte))).toBe('.b { content: "😀" }')
  })
})
