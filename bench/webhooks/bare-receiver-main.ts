import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

// Child process of webhooks-bench.ts: the least that any receiver of webhooks does. It checks the signature of a body and answers.
const [port, secret] = z.tuple([z.coerce.number().int(), z.string()]).parse(process.argv.slice(2))
const accepted = { status: 'taken' }

const app = new Hono()
app.get('/readyz', (c) => c.json(accepted))
app.post('/webhooks/github', async (c) => {
  const body = Buffer.from(await c.req.arrayBuffer())
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const given = Buffer.from(c.req.header('x-hub-signature-256') ?? '')
  const isRight = given.length === expected.length && timingSafeEqual(given, expected)
  return isRight ? c.json(accepted, 202) : c.json({ status: 'refused' }, 401)
})
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' })
