import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { ApiEnv } from './api-env.ts'

type Asked = Context<ApiEnv>

/** Another site cannot send it: a browser first asks whether it may, and no answer of ours allows it. It names the token that the page shows. */
export const pageHeader = 'x-remora-page'

/** Browsers send a cookie to every port of a host: with its port in the name, two stacks of one machine keep theirs apart. */
function cookieName({ req }: Asked): string {
  return `remora_session_${new URL(req.url).port || 'default'}`
}

function cookieSettings({ req }: Asked) {
  const isSecure = new URL(req.url).protocol === 'https:' || req.header('x-forwarded-proto') === 'https'
  return { httpOnly: true, sameSite: 'Strict', path: '/', secure: isSecure } as const
}

/** Has the browser keep the token until it is closed, where no script reads it. */
export function keepSession(context: Asked, token: string): void {
  setCookie(context, cookieName(context), token, cookieSettings(context))
}

export function endSession(context: Asked): void {
  deleteCookie(context, cookieName(context), cookieSettings(context))
}

/**
 * Returns the token of the cookie, where the request is of the page itself: what changes something needs the page's header, and a WebSocket, which
 * can have no header of its own, the page's origin.
 */
export function sessionToken(context: Asked): string | undefined {
  const { method } = context.req
  const isRead = method === 'GET' || method === 'HEAD'
  const isOwn = context.req.header('upgrade') === undefined ? isRead || hasPageHeader(context) : hasOwnOrigin(context)
  return isOwn ? getCookie(context, cookieName(context)) : undefined
}

function hasPageHeader({ req }: Asked): boolean {
  return req.header(pageHeader) !== undefined
}

function hasOwnOrigin({ req }: Asked): boolean {
  const origin = req.header('origin')
  return origin !== undefined && URL.parse(origin)?.host === new URL(req.url).host
}
