/** The files of a code-module agent: what a provisioner unpacks and a bootstrapper reads. */
import { createHash } from 'node:crypto'
import type { ByteSource } from '../http/response.ts'
import { bytesOf, deterministicBytes } from './deterministic-bytes.ts'

/** A file or, with a path that ends in `/`, a folder. */
export interface AgentFile {
  readonly path: string
  readonly mode: number
  readonly content: ByteSource
}

/** What distinguishes one agent from another. */
export interface AgentDescription {
  /** `n.n.n.n-n`; names the folder in `agent/bin`. */
  readonly version: string
  /** As the API names it: x86, arm, ppcle, s390 or all. */
  readonly arch: string
  readonly flavor: string
  /** From {@link TECHNOLOGIES}, or `all`. */
  readonly technologies: readonly string[]
  /** Of the libraries of all technologies together. */
  readonly sizeBytes: number
  /** Tenant data for the configuration; left out of agents that several tenants share. */
  readonly tenant?: { readonly id: string; readonly token: string; readonly endpoints: readonly string[] }
}

/** What can be monitored. */
export const TECHNOLOGIES = [
  'apache',
  'dotnet',
  'envoy',
  'go',
  'java',
  'nginx',
  'nodejs',
  'php',
  'python',
  'sdk',
] as const

const ARCH_FOLDERS: Readonly<Record<string, string>> = {
  x86: 'x86-64',
  arm: 'aarch64',
  ppcle: 'ppc64le',
  s390: 's390x',
  all: 'x86-64',
}
const EXECUTABLE = 0o755
const READABLE = 0o644

/** Folders of the libraries, by flavor: `multidistro` carries those for both C libraries. */
function platforms({ arch, flavor }: AgentDescription): readonly string[] {
  const cpu = ARCH_FOLDERS[arch] ?? arch
  if (flavor === 'musl') return [`linux-musl-${cpu}`]
  return flavor === 'multidistro' ? [`linux-${cpu}`, `linux-musl-${cpu}`] : [`linux-${cpu}`]
}

/** Everything but the manifest. Folders come before what is in them, the shared files before the libraries. */
export function agentFiles(agent: AgentDescription): readonly AgentFile[] {
  const { version } = agent
  const proc = deterministicBytes(`liboneagentproc.so ${version}`, 16 * 1024)
  const shared: readonly AgentFile[] = [
    file('agent/installer.version', version),
    file('agent/conf/ruxitagentproc.conf', processConfig(agent)),
    ...(agent.tenant === undefined ? [] : [file('agent/conf/standalone.conf', standaloneConfig(agent.tenant))]),
    { path: 'agent/lib64/liboneagentproc.so', mode: EXECUTABLE, content: proc },
    { path: 'agent/bin/any/', mode: EXECUTABLE, content: bytesOf('') },
  ]
  return withFolders([...shared, ...libraries(agent).map(({ file: library }) => library)])
}

interface Library {
  readonly technology: string
  readonly platform: string
  readonly file: AgentFile
}

/** One library per technology and platform, all of the same size. */
function libraries(agent: AgentDescription): readonly Library[] {
  const { version, sizeBytes, technologies } = agent
  const all = TECHNOLOGIES.flatMap((technology) => platforms(agent).map((platform) => ({ technology, platform })))
  const each = Math.floor(sizeBytes / all.length)
  return all
    .filter(({ technology }) => technologies.includes('all') || technologies.includes(technology))
    .map(({ technology, platform }) => {
      const path = `agent/bin/${version}/${platform}/liboneagent${technology}.so`
      return { technology, platform, file: { path, mode: EXECUTABLE, content: deterministicBytes(path, each) } }
    })
}

/**
 * `manifest.json`: which files a technology needs on which platform, for copying only those.
 *
 * @param md5 of a file, by its path
 */
export function agentManifest(agent: AgentDescription, md5: (path: string) => string): AgentFile {
  const { version } = agent
  const entry = (path: string) => ({ path, version, md5: md5(path) })
  const shared = agentFiles(agent).filter(({ path }) => !path.endsWith('/') && !path.startsWith('agent/bin/'))
  const technologies: Record<string, Record<string, readonly object[]>> = {}
  for (const { technology, platform, file: library } of libraries(agent)) {
    const byPlatform = technologies[technology] ?? {}
    technologies[technology] = byPlatform
    byPlatform[platform] = [...shared.map(({ path }) => entry(path)), entry(library.path)]
  }
  return file('manifest.json', `${JSON.stringify({ version, technologies }, null, 2)}\n`)
}

/** The digest that the manifest names. */
export function md5Of(): { add(chunk: Buffer): void; digest(): string } {
  const hash = createHash('md5')
  return { add: (chunk) => void hash.update(chunk), digest: () => hash.digest('hex') }
}

function file(path: string, content: string): AgentFile {
  return { path, mode: READABLE, content: bytesOf(content) }
}

/** Unpackers make a missing folder with the mode of the file in it, so every folder is named, and first. */
function withFolders(files: readonly AgentFile[]): readonly AgentFile[] {
  const folders = new Set<string>()
  for (const { path } of files) {
    const names = path.split('/').slice(0, -1)
    names.forEach((_name, index) => {
      folders.add(`${names.slice(0, index + 1).join('/')}/`)
    })
  }
  const sorted = [...folders].sort().map((path) => ({ path, mode: EXECUTABLE, content: bytesOf('') }))
  return [...sorted, ...files.filter(({ path }) => !path.endsWith('/'))]
}

function processConfig({ tenant, version }: AgentDescription): string {
  const lines = [
    '# settings of the code modules',
    '[general]',
    'logDir ../../log',
    'dataStorageDir ../..',
    `agentVersion ${version}`,
    ...(tenant === undefined ? [] : [`tenant ${tenant.id}`, `tenantToken ${tenant.token}`]),
    '',
    '[agentType]',
    ...TECHNOLOGIES.map((technology) => `${technology} on`),
    '',
    '[process]',
    'libraryPath32 "../lib/liboneagentproc.so"',
    'libraryPath64 "../lib64/liboneagentproc.so"',
    '',
  ]
  return lines.join('\n')
}

function standaloneConfig({ id, token, endpoints }: NonNullable<AgentDescription['tenant']>): string {
  const server = endpoints.map((endpoint) => `{${endpoint}}`).join(';')
  return `tenant ${id}\ntenantToken ${token}\nserver ${server}\n`
}
