type Owned = { uid: number; gid: number; mode: number }

/** Whether it is this user's. Always true where the system knows no users. */
export function isOfUser({ uid }: Owned): boolean {
  return process.getuid === undefined || uid === process.getuid()
}

/**
 * Whether another user than its owner (or root) may write it. A group with the owner's own number is the owner's alone:
 * Debian, Fedora and others make one for each user, and let it write whatever the user makes (umask 002). Any other group
 * may have other members, and is not trusted. Never true where the system knows no users.
 */
export function othersMayWrite({ uid, gid, mode }: Owned): boolean {
  if (process.getuid === undefined) return false
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== uid)
}
