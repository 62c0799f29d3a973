import { apiDocument } from '../../services/api/reference/api-document.ts'
import { apiMarkdown } from '../../services/api/reference/api-markdown.ts'
import { readReference } from '../../services/api/reference/read-reference.ts'

/** The text of docs/reference/api.md, made from what the routes are declared with. */
export function apiReference(): string {
  return apiMarkdown(readReference(apiDocument()))
}
