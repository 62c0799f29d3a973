const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text as HTML shows it, in elements and attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? '')
}

/**
 * The Markdown of the descriptions as HTML: paragraphs, lists, fenced and inline code. Links are shown by their text:
 * they lead to files that a page of the service does not have. Everything else is text.
 */
export function proseHtml(markdown: string): string {
  const parts = markdown.split(/^```\n?(.*?)^```$/ms)
  return parts
    .map((part, index) => (index % 2 === 1 ? `<pre>${escapeHtml(part)}</pre>` : paragraphsHtml(part)))
    .join('')
}

/** One line of it. */
export function spanHtml(markdown: string): string {
  const parts = markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').split('`')
  return parts.map((part, index) => (index % 2 === 1 ? `<code>${escapeHtml(part)}</code>` : escapeHtml(part))).join('')
}

function paragraphsHtml(markdown: string): string {
  const blocks = markdown.split(/\n{2,}/).filter((block) => block.trim() !== '')
  return blocks
    .map((block) => {
      const items = block.trim().split(/^- /m)
      if (items.length === 1) return `<p>${spanHtml(block.trim())}</p>`
      return `<ul>${items.flatMap((item) => (item === '' ? [] : `<li>${spanHtml(item.trim())}</li>`)).join('')}</ul>`
    })
    .join('')
}
