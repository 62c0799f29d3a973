import type { Node, Tree } from 'web-tree-sitter'
import { plainStringText } from './python-nodes.ts'

export type TextMentions = ReturnType<typeof openTextMentions>

/** Finds uses of a file's names outside its code: in strings, comments and parameters. */
export function openTextMentions(tree: Tree, source: string) {
  let texts: ReturnType<typeof textsOf> | undefined
  return {
    /** Says why `name` may be needed; undefined without a reason. `isFixture`: a parameter of that name may stand for it. */
    reasonToKeep(name: string, { isFixture }: { isFixture: boolean }): string | undefined {
      texts ??= textsOf(tree, source)
      if (names(texts.exported, name)) return '__all__ exports it'
      if (names(texts.typeComments, name)) return 'a type comment names it'
      if (names(texts.doctests, name)) return 'a doctest uses it'
      if (names(texts.annotations, name)) return 'a string that holds code or a type names it'
      if (isFixture && texts.parameters.has(name)) return 'a parameter has its name, as of a fixture'
      if (names(texts.lookedUp, name)) return 'it may be looked up by its name in a string'
      if (texts.takesAll) return 'the file, or a library that it calls, looks names up when it runs'
      return texts.evaluatesText ? 'the file runs code that is made up at run time' : undefined
    },
  }
}

function names(text: string, name: string): boolean {
  return new RegExp(String.raw`(?<!\w)${name.replaceAll(/\W/g, '')}(?!\w)`, 'u').test(text)
}

/** Matches code that looks up names of the module at run time, or runs text as code. */
const lookups =
  /(?<![\w.])(?:globals|locals|vars|eval|exec|execfile|compile)\s*\(|\bsys\.modules\b|\b(?:usefixtures|getfixturevalue|timeit|Timer|get_type_hints)\s*\(|\b__annotations__\b/

/** Matches code that may use any name of the module: all of them at once, or one computed at run time. */
const literal = String.raw`(?:"[^"\n]*"|'[^'\n]*')`
const wholeModule = new RegExp(
  [
    String.raw`(?<![\w.])(?:globals|vars)\(\)(?!\s*\[\s*${literal}\s*\]|\s*\.\s*(?:get|pop)\(\s*${literal}\s*[,)]|\s*\.\s*(?:update|setdefault)\()`,
    String.raw`\bsys\.modules\[\s*__name__\s*\](?!\.__\w+__\s*=|\.[a-z])`,
    String.raw`\bfire\.Fire\(\s*\)`,
    String.raw`\bf_(?:globals|back)\b`,
  ].join('|'),
)

/** Matches libraries that read names in the module that calls them: PLY finds `tokens` and the rules there. */
const readsItsCaller =
  /^[ \t]*(?:from|import)[ \t]+(?:ply|\w+\.ply)\b|^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]+(?:yacc|lex)\b/m

/** Collects texts of one file whose names are looked up when it runs, is tested or type-checked. */
function textsOf(tree: Tree, source: string) {
  const textOf = (nodes: readonly Node[]) => nodes.map(({ text }) => text).join('\n')
  // One walk for all: a search through the whole tree takes as long as what is done with what it finds.
  const nodes = Map.groupBy(tree.rootNode.descendantsOfType(lookedAt), ({ type }) => type)
  const of = (type: string) => nodes.get(type) ?? []
  const strings = of('string')
  const plain = strings.flatMap((string) => plainStringText(string) ?? [])
  const comments = of('comment').map((comment) => comment.text)
  const calls = of('call')
  return {
    typeComments: comments.filter((comment) => /^#\s*type:/.test(comment)).join('\n'),
    doctests: plain.flatMap((text) => text.match(/^[ \t]*(?:>>>|\.\.\.) .*$/gm) ?? []).join('\n'),
    exported: textOf(of('expression_statement').filter(({ text }) => text.startsWith('__all__'))),
    annotations: textOf(codeStrings(calls, [...of('type'), ...of('generic_type')])),
    lookedUp: lookups.test(source) ? textOf(strings) : '',
    parameters: new Set(of('parameters').flatMap(parameterNames)),
    takesAll: wholeModule.test(source) || readsItsCaller.test(source),
    evaluatesText: calls.some(runsUnknownText),
  }
}

const lookedAt = ['string', 'comment', 'expression_statement', 'parameters', 'call', 'type', 'generic_type']

const typeMakers =
  /(?:^|\.)(?:cast|TypeVar|NewType|ForwardRef|NamedTuple|TypedDict|eval|exec|get_type_hints|parse_expr)$/

/** Finds strings that a type checker, or `eval`, reads as code: in annotations, and in calls that take one. */
function codeStrings(calls: readonly Node[], types: readonly Node[]): Node[] {
  const makers = calls.filter((call) => typeMakers.test(calleeOf(call)))
  return [...makers, ...types]
    .filter(({ text }) => /["']/.test(text))
    .flatMap((node) => node.descendantsOfType('string'))
}

function calleeOf(call: Node): string {
  return call.childForFieldName('function')?.text ?? ''
}

function parameterNames(parameters: Node): string[] {
  return parameters.namedChildren.flatMap((parameter) => {
    if (parameter.type === 'identifier') return parameter.text
    return (parameter.childForFieldName('name') ?? parameter.namedChildren[0])?.text ?? []
  })
}

/** Is true for `eval(text)` with the names of the module, where `text` is no literal. */
function runsUnknownText(call: Node): boolean {
  const [text, ...more] = call.childForFieldName('arguments')?.namedChildren ?? []
  const isRun = /^(?:eval|exec|execfile)$/.test(calleeOf(call)) && text !== undefined && more.length === 0
  return isRun && plainStringText(text) === undefined
}
