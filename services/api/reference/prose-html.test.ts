import { describe, expect, it } from 'vitest'
import { escapeHtml, proseHtml, spanHtml } from './docs-page.ts'

describe('the prose of a page', () => {
  it('is text, whatever it says', () => {
    const hostile = `<script>alert("x")</script> & 'more'`
    expect(escapeHtml(hostile)).toBe('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;more&#39;')
    for (const place of [hostile, `\`${hostile}\``, `- ${hostile}`, `\`\`\`\n${hostile}\n\`\`\``, `[${hostile}](x)`]) {
      expect(proseHtml(place)).not.toMatch(/<script|"x"/)
    }
  })

  it('has paragraphs, lists and code', () => {
    expect(proseHtml('One `a<b`.\n\n- first\n- second\n  line\n\n```\ncurl -N\n```')).toBe(
      '<p>One <code>a&lt;b</code>.</p><ul><li>first</li><li>second\n  line</li></ul><pre>curl -N\n</pre>',
    )
  })

  it('shows a link by its text', () => {
    expect(spanHtml('see [the guide](../guide.md#x) now')).toBe('see the guide now')
  })
})
