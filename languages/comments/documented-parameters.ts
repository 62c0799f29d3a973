import { namesFault } from './documented-names.ts'
import { withoutCode } from './comment-text.ts'
import type { Definition, DocLanguage } from './definition.ts'

/** Says where a comment does not document exactly the parameters, in order, or documents a result that is none; undefined where it documents none. */
export function parameterFault(content: string, definition: Definition, language: DocLanguage): string | undefined {
  const documented = documentedIn(content, language)
  if (documented === undefined) return undefined
  const { parameters, typeParameters, returnsValue } = definition
  const types = documented.typeParameters
  const strangeType = types.find((name) => !typeParameters.includes(name))
  if (strangeType !== undefined) return `it documents the type parameter ${strangeType}, which there is not`
  if (types.length > 0 && types.join() !== typeParameters.join())
    return `it documents the type parameters ${types.join(', ')}, and the signature has ${typeParameters.join(', ')}`
  if (documented.returns && definition.kind === 'function' && returnsValue === 'no' && !definition.yields)
    return 'it documents a result, and nothing is returned'
  const names = parameters.map(({ name }) => name)
  return documented.parameters.length === 0 ? undefined : namesFault(documented.parameters, names)
}

type Documented = { parameters: string[]; typeParameters: string[]; returns: boolean }

const paramTag = /^[ \t]*@(?:param|arg|argument)[ \t]+(?:\{(?:[^{}]|\{[^{}]*\})*\}[ \t]*)?(\[[^\]\n]*\]|<\w+>|[^\s]+)/gm

function documentedIn(content: string, { style }: DocLanguage): Documented | undefined {
  const text = withoutCode(content)
  if (style === 'godoc') return undefined
  if (style === 'rustdoc') return { parameters: argumentsOfRust(text), typeParameters: [], returns: false }
  const given = [...text.matchAll(paramTag)].map(([, name = '']) => name)
  const bare = given.map((name) =>
    name
      .replace(/^\[([^\]=]*)(?:=.*)?\]$/, '$1')
      .trim()
      .replace(/^\.{3}/, '')
      .replace(/[,:]$/, ''),
  )
  const tagged = [...text.matchAll(/^[ \t]*@(?:typeParam|template)[ \t]+(?:\{[^}\n]*\}[ \t]*)?(\w+)/gm)]
  return {
    // `options.name` describes a part of a parameter.
    parameters: bare.filter((name) => !name.startsWith('<') && !/[.[]/.test(name)),
    typeParameters: [
      ...tagged.map(([, name = '']) => name),
      ...bare.filter((name) => name.startsWith('<')).map((name) => name.slice(1, -1)),
    ],
    returns: /^[ \t]*@returns?\b/m.test(text),
  }
}

/** Lists the items of a section `# Arguments`, as Rust's older documentation has it. */
function argumentsOfRust(text: string): string[] {
  const section = /^#+ (?:Arguments|Parameters)[ \t]*$([\s\S]*?)(?=^#+ |(?![\s\S]))/m.exec(text)?.[1] ?? ''
  return [...section.matchAll(/^[ \t]*[*-] `?(\w+)`?/gm)].map(([, name = '']) => name)
}
