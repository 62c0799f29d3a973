import type { Packaged, Packager } from './packager.ts'

/** A version that is `usable` serves where the right one cannot be got. */
export type Version = { version: string; fit: 'right' | 'usable' | 'old' }

export type KnownProgram = {
  title: string
  names: readonly [string, ...string[]]
  place: string
  needed: string
  versionIn(printed: string): Version | undefined
  source: PackageSource | WheelSource
  /** Is true when other users must be able to start the one that root got. */
  isForOthers?: boolean
  advice(packager: Packager | undefined, isOld: boolean): string
}

type PackageSource = {
  kind: 'packages'
  of: Packaged
  /** The paths that it has in these packages; the first that is there counts. */
  files: readonly string[]
}

type WheelSource = { kind: 'wheel'; requirement: string; hashes: readonly string[] }

export type PackagedProgram = KnownProgram & { source: PackageSource }
export type WheelProgram = KnownProgram & { source: WheelSource }

/** `SET … NX GET`, which the ledger needs, is of Redis 7. */
const leastRedis = 7

export const redisServer: KnownProgram = {
  title: 'Redis',
  names: ['redis-server', 'valkey-server'],
  place: 'redis-server',
  needed: `${leastRedis} or a Valkey is needed`,
  versionIn(printed) {
    const [, name, version] = /(\w+) server v=(\S+)/.exec(printed) ?? []
    if (name === undefined || version === undefined) return undefined
    return { version, fit: name === 'Valkey' || Number.parseInt(version, 10) >= leastRedis ? 'right' : 'old' }
  },
  source: {
    kind: 'packages',
    of: 'redis',
    // The program that checks dump files is the server when it is started under that name. Debian's tools have it alone.
    files: ['usr/bin/redis-check-rdb', 'usr/bin/valkey-check-rdb'],
  },
  // Where an installed one is too old, the system's packages usually are, too.
  advice(packager, isOld) {
    const service = '"export REMORA_API_URL=http://HOST:8420" to use a service that runs elsewhere'
    if (isOld) return `put a newer redis-server or valkey-server on the PATH, or choose ${service}`
    if (packager !== undefined) return `choose "${packager.byHand('redis')}", or ${service}`
    return `choose "apt-get install redis-server", "dnf install valkey" or "brew install redis", or ${service}`
  },
}

/** Is the least minor version of 0 that has `--disable-userns`. */
const leastBubblewrap = 8

export const bubblewrap: KnownProgram = {
  // Root starts programs of the sandbox as a user who must find it.
  isForOthers: true,
  title: 'bubblewrap',
  names: ['bwrap'],
  place: 'bwrap',
  needed: `0.${leastBubblewrap} is needed`,
  versionIn(printed) {
    const [, version, major, minor] = /^bubblewrap ((\d+)\.(\d+)\S*)/.exec(printed) ?? []
    if (version === undefined) return undefined
    return { version, fit: Number(major) > 0 || Number(minor) >= leastBubblewrap ? 'right' : 'old' }
  },
  source: { kind: 'packages', of: 'bubblewrap', files: ['usr/bin/bwrap'] },
  advice: (packager) => (packager === undefined ? 'install bubblewrap' : packager.byHand('bubblewrap')),
}

/** The Ruff that lints are made with, of PyPI's wheels for Linux (x64, arm64; glibc, musl) and macOS. */
export const pinnedRuff = '0.17.3'
/** Older ones answer a language client in another way. */
const leastRuff = 12

export const ruff: KnownProgram = {
  title: 'Ruff',
  names: ['ruff'],
  place: `ruff-${pinnedRuff}/bin/ruff`,
  needed: `0.${leastRuff} is needed`,
  versionIn(printed) {
    const [, version, minor] = /^ruff (0\.(\d+)\.\S+)/.exec(printed) ?? []
    if (version === undefined) return undefined
    if (version === pinnedRuff) return { version, fit: 'right' }
    return { version, fit: Number(minor) >= leastRuff ? 'usable' : 'old' }
  },
  source: {
    kind: 'wheel',
    requirement: `ruff==${pinnedRuff}`,
    hashes: [
      '029c37cbd3de48ca37aa12117bead2d065f15da17d66bf84e0d4274013705db2',
      '27bb571ac78fef178fe5118d2827df95c2aae74a48fff2b15f6acd03af5ff5bb',
      '39405f341deec934b4289634324ad695f72df2970f9121582872eaf5b722f0f5',
      '4590b9d86c0b1543ebb09094254e191cd43fe8edaf330baa035aab03da251532',
      '46539cb031b01fd29ae0a02142483c46640b233ee12bb1c1b690bffa1555d5ca',
      '56b8ffb3f3b3cbccb8b76b71b38261b7ed982ef5d20f5b447b1b61a7f4949b24',
      '68074094f55ca3d29ab19491f640282f7a84061c4c7977aa5094b968ca457e9a',
      '692fdb46d0fd9c71e380947dc5fc72f2c3f881073bc1f739e4579376231affbe',
      '6a754c0341bc9ca151b7b335988b3263921c08859f84ca219b70cee825571b6f',
      '7fa4b0f931cdbcb8a52044f370a3eb429fb42eb88807b0e800fcaa98dd42b24e',
      '81fce74bcd6be0e9da7c67c7553fd0f1f12964a2052cd728ef917b937a5ca1d9',
      'a57049c8addb3662073859bb55a7ad35aa54f8a7c9ed268911d1333c5aadaaa9',
      'ab5fa7ed5ce18554ea69d850ad162cbaa0c85fc47c08d83a569f806681c9a6ad',
      'ab86b84cd9d05e56d329742c0cabdcbe2d1d56c98f4a04aab9b5b66196febfb4',
      'b75cc113b3aca388933d8296b667b1ac401a80317ea3074c9b0a66541199da29',
      'bbde18beccd98c29a227c63c99022e3443b99258e08326df6425dfe0443705ef',
      'c673c170e27834d1262e3a9c1e97bdc9b9c3b180c63d89173ce69747232474c1',
      'e407b4a6852853a9a2cdce96963e94ad9775578bb44e7561a0f2829f3cc04b11',
    ],
  },
  advice: () => `install Ruff (pip install ruff==${pinnedRuff}, or see https://docs.astral.sh/ruff/installation)`,
}
