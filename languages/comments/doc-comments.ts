import type { Tree } from 'web-tree-sitter'
import type { TextStyle } from '#domain/path-rules.ts'
import { faultOfComment, fitComment, normalisedComment, widthOf, writtenComment } from './comment-text.ts'
import { type DefinitionRange, type DocLanguage, indentBefore } from './definition.ts'
import { trapIn } from './comment-traps.ts'
import { docLanguageOf } from './doc-language.ts'
import { parameterFault } from './documented-parameters.ts'
import { definitionAt, type FoundDefinition } from './find-definition.ts'

export type DocPlace = { language: string; source: string; range: DefinitionRange; text: TextStyle }

/** Holds what a model needs to describe a definition, as `describe_definition` answers it: in snake_case, since tool scripts pass it on. */
export type DescribedDefinition = ReturnType<typeof described>

export function describeDefinition(tree: Tree, place: DocPlace): DescribedDefinition | undefined {
  const language = docLanguageOf(place.language)
  const definition = language && definitionAt(tree, { ...place, language })
  return definition && described(definition, { ...place, docLanguage: language })
}

function described(definition: FoundDefinition, place: DocPlace & { docLanguage: DocLanguage }) {
  const { docLanguage: language, text } = place
  const line = roomFor(place, language)
  return {
    name: definition.name,
    has_docstring: definition.hasDoc,
    docstring: definition.doc === undefined ? null : normalisedComment(definition.doc),
    parameters: definition.parameters.map(({ name, type, default: value, isRest }) => ({
      name: name ?? 'options',
      annotation: type,
      default: value,
      kind: isRest ? 'var_positional' : 'positional',
    })),
    type_parameters: definition.typeParameters,
    returns: definition.returns,
    returns_value: definition.returnsValue === 'yes',
    yields: definition.yields,
    raises: definition.throws,
    decorators: definition.isProperty === true ? ['property'] : [],
    bases: [],
    style: language.style,
    types: language.style === 'jsdoc' && text.docstringTypes === true,
    summary_characters: line,
    line_characters: line,
    indent: '  ',
  }
}

function roomFor({ source, range, text }: DocPlace, { form }: DocLanguage): number {
  const mark = form === '/**' ? 3 : form.length + 1
  const limit = Math.min(text.lineLength, text.docLength ?? text.lineLength)
  return Math.max(20, limit - widthOf(indentBefore(source, range.start)) - mark)
}

export type InsertedComment = { kind: 'inserted'; text: string } | { kind: 'refused'; reason: string }

const refused = (reason: string): InsertedComment => ({ kind: 'refused', reason })

/**
 * Inserts the comment above the definition, with its indentation and the file's line ends, wrapped to the line length. Refuses
 * to write beside a comment that is there, a text that a tool would obey or that would end the comment, one that documents other
 * parameters than the signature has, and one that does not fit.
 */
export function insertComment(tree: Tree, place: DocPlace & { docstring: string }): InsertedComment {
  const { source, range, docstring } = place
  const language = docLanguageOf(place.language)
  if (language === undefined) return refused('there is no form of doc comments for its language')
  const definition = definitionAt(tree, { source, range, language })
  if (definition === undefined) return refused('the definition was not found')
  if (definition.hasDoc) return refused('it already has a docstring, which stays as it is')
  if (definition.exempt !== undefined) return refused(`the definition ${definition.exempt}`)
  const content = formed(normalisedComment(docstring), language, place.text)
  const faultOf = (text: string) => faultOfComment(docstring, text, definition.name, language)
  const fault = faultOf(content) ?? parameterFault(content, definition, language)
  if (fault !== undefined) return refused(fault)
  const fitted = fitComment(language.escaped?.(content) ?? content, roomFor(place, language))
  if (fitted.kind === 'too_long') return refused(fitted.reason)
  const { top } = definition
  const [indent, newline] = [indentBefore(source, range.start), lineEndOf(source, top)]
  const written = writtenComment(fitted.lines, language, {
    indent,
    newline,
    isOneLine: place.text.docstringSummary !== 'second_line',
    lineLength: place.text.lineLength,
  })
  const comment = top === range.start ? written : `${written}${language.form}${newline}${indent}`
  // Wrapping may bring a word that tools obey to the beginning of a line.
  const trap = faultOf(fitted.lines.join('\n')) ?? trapIn(comment, place.language)
  if (trap !== undefined) return refused(trap)
  return { kind: 'inserted', text: source.slice(0, top) + comment + source.slice(top) }
}

function formed(content: string, { style }: DocLanguage, { docstringTypes, docstringDash }: TextStyle): string {
  if (style !== 'tsdoc' && style !== 'jsdoc') return content
  const isTyped = style === 'jsdoc' && docstringTypes === true
  const linked =
    style === 'tsdoc' ? content.replaceAll(/^([ \t]*@throws[ \t]+)\{([\w$.]+)\}/gm, '$1{@link $2}') : content
  const type = /^([ \t]*@(?:param|returns?|yields|typeParam|template)[ \t]+)\{(?!@)(?:[^{}]|\{[^{}]*\})*\}[ \t]*/gm
  const bare = isTyped ? linked : linked.replaceAll(type, '$1')
  const dash = style === 'tsdoc' || docstringDash !== false
  const head =
    /^([ \t]*@(?:param|typeParam|template)[ \t]+(?:\{(?:[^{}]|\{[^{}]*\})*\}[ \t]+)?(?:\[[^\]\n]*\]|[^\s]+))[ \t]+(?:[-–—][ \t]+)?(?=\S)/gm
  return bare.replaceAll(head, dash ? '$1 - ' : '$1 ')
}

/** Returns the line end of the line around the index, or of the file's first line where the last one has none. */
export function lineEndOf(source: string, index: number): '\r\n' | '\n' {
  const own = source.indexOf('\n', index)
  const end = own < 0 ? source.indexOf('\n') : own
  return source[end - 1] === '\r' ? '\r\n' : '\n'
}
