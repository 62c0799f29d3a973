import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const html = await openOutline('html')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'elements that have an id, in one another',
    source: '<!doctype html>\n<body>\n<div class="a" id="main">\n  <p id=two>x</p>\n  <b>no</b>\n</div>\n</body>\n',
    nodes: ['element main 3-6', 'element main.two 4-4'],
  },
  {
    name: 'elements without an end',
    source: '<img id=\'a\' src="x">\n<br id="b"/>\n<INPUT ID="c">\n',
    nodes: ['element a 1-1', 'element b 2-2', 'element c 3-3'],
  },
  {
    name: 'scripts and styles',
    source:
      '<head>\n<style>\na {}\n</style>\n<script id="s" src="x"></script>\n<script>\nlet x = "<p id=no>"\n</script>\n</head>\n',
    nodes: ['style style 2-4', 'script script 5-5', 'script script 6-8'],
  },
  { name: 'no ids of other attributes', source: '<p data-id="x" for="id">id="y"</p><!-- <p id="z"> -->', nodes: [] },
  {
    name: 'what parses around a syntax error',
    source: '<p id="a">x</p>\n<div <<>\n<p id="b">y</p>\n',
    nodes: ['element a 1-1', 'element b 3-3'],
  },
  { name: 'lines that end with CRLF', source: '<p>😀</p>\r\n<p id="a">\r\nx\r\n</p>\r\n', nodes: ['element a 2-4'] },
]

describe('the html pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(html.of(source)).toEqual(nodes)
  })

  it('tells nodes of one name apart', () => {
    const ids = html.nodesOf('<p id="a"></p><p id="a"></p>').map(({ nodeId }) => nodeId)
    expect(new Set(ids).size).toBe(3)
  })

  it('cuts a node out of its bytes behind a byte order mark and emoji', () => {
    const bytes = new TextEncoder().encode('\uFEFF<p>😀é𝔘</p>\r\n<p id="a">😀</p>\r\n')
    const node = html.nodesOf(bytes).at(-1)
    expect(new TextDecoder().decode(bytes.subarray(node?.startByte, node?.endByte))).toBe('<p id="a">😀</p>')
  })
})
