import type { DocLanguage } from './definition.ts'
import { goDirective, goFault, goForm, readGoDefinition } from '../go/go-definition.ts'
import { javaFault, javaForm, readJavaDefinition } from '../java/java-definition.ts'
import { readRustDefinition, rustForm } from '../rust/rust-definition.ts'
import { readScriptDefinition } from '../script/script-definition.ts'
import { inProse } from './comment-text.ts'

const typescript: DocLanguage = {
  style: 'tsdoc',
  form: '/**',
  lineLength: 100,
  tags: 'param returns throws example remarks see defaultValue typeParam'.split(' '),
  read: readScriptDefinition,
  // As tsdoc.org requires of characters that would begin a tag or an element.
  escaped: (content) => inProse(content, (prose) => prose.replaceAll(/(?<!\\)[{}<>]|(?<=\w)@(?=\w)/g, '\\$&')),
}

const javascript: DocLanguage = {
  style: 'jsdoc',
  form: '/**',
  lineLength: 100,
  tags: 'param returns return throws yields example remarks see defaultValue default template'.split(' '),
  read: readScriptDefinition,
}

const go: DocLanguage = {
  style: 'godoc',
  form: '//',
  lineLength: 80,
  tags: [],
  read: readGoDefinition,
  directive: goDirective,
  escaped: goForm,
  faultOf: goFault,
}

const rust: DocLanguage = {
  style: 'rustdoc',
  form: '///',
  lineLength: 100,
  tags: [],
  read: readRustDefinition,
  escaped: rustForm,
}

const java: DocLanguage = {
  style: 'javadoc',
  form: '/**',
  lineLength: 100,
  tags: ['param', 'return', 'throws', 'see'],
  read: readJavaDefinition,
  escaped: javaForm,
  faultOf: javaFault,
}

const rows: Readonly<Record<string, DocLanguage>> = { typescript, tsx: typescript, javascript, go, rust, java }

export function docLanguageOf(language: string): DocLanguage | undefined {
  return Object.hasOwn(rows, language) ? rows[language] : undefined
}
