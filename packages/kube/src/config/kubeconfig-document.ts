/** Parses one kubeconfig file. Every error names the file and the field, and never quotes a value. */
import { dirname, isAbsolute, resolve } from 'node:path'
import { isRecord, type JsonRecord } from '@reeve/http'
import { ConfigError } from '../errors.ts'

/** A cluster of a kubeconfig; paths are absolute. */
export interface KubeconfigCluster {
  readonly server: string | undefined
  readonly certificateAuthority: string | undefined
  readonly certificateAuthorityData: string | undefined
  readonly insecureSkipTlsVerify: boolean
  readonly tlsServerName: string | undefined
  readonly disableCompression: boolean
  readonly proxyUrl: string | undefined
  /** Passed to exec plugins that request it. */
  readonly execExtension: unknown
  /** The declaration: file and field. */
  readonly where: string
}

/** An exec plugin of a user. */
export interface KubeconfigExec {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly installHint: string | undefined
  readonly interactiveMode: string | undefined
  readonly provideClusterInfo: boolean
  readonly where: string
}

/** A user of a kubeconfig; paths are absolute. */
export interface KubeconfigUser {
  readonly clientCertificate: string | undefined
  readonly clientCertificateData: string | undefined
  readonly clientKey: string | undefined
  readonly clientKeyData: string | undefined
  readonly token: string | undefined
  readonly tokenFile: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly as: string | undefined
  readonly asUid: string | undefined
  readonly asGroups: readonly string[]
  readonly asUserExtra: Readonly<Record<string, readonly string[]>>
  readonly exec: KubeconfigExec | undefined
  readonly authProvider: string | undefined
  readonly where: string
}

/** A pair of cluster and user. */
export interface KubeconfigContext {
  readonly cluster: string | undefined
  readonly user: string | undefined
  readonly namespace: string | undefined
  readonly where: string
}

/** One file, or several merged. */
export interface Kubeconfig {
  readonly files: readonly string[]
  readonly currentContext: string | undefined
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>
  readonly users: ReadonlyMap<string, KubeconfigUser>
  readonly contexts: ReadonlyMap<string, KubeconfigContext>
}

/** Parses the text of `file`; YAML or JSON. */
export async function parseKubeconfig(text: string, file: string): Promise<Kubeconfig> {
  const root = asFields((await parseText(text, file)) ?? {}, file)
  const atFile = (path: string | undefined) => (path === undefined ? undefined : resolve(dirname(file), path))
  return {
    files: [file],
    currentContext: optional(root, 'current-context', file),
    clusters: named(root, 'clusters', 'cluster', file, (fields, where) => cluster(fields, where, atFile)),
    users: named(root, 'users', 'user', file, (fields, where) => user(fields, where, atFile, file)),
    contexts: named(root, 'contexts', 'context', file, context),
  }
}

async function parseText(text: string, file: string): Promise<unknown> {
  const [{ default: yaml }, { parseYamlDocuments }] = await Promise.all([import('yaml'), import('../bounded-yaml.ts')])
  const lineCounter = new yaml.LineCounter()
  // The library's own messages contain the offending line, which may contain a token: only its number is used.
  const [document, another] = parseYamlDocuments(text, { lineCounter, logLevel: 'silent' })
  if (document === undefined) return undefined
  if (another !== undefined) throw new ConfigError(`${file}: contains several YAML documents; keep one`)
  const [error] = document.errors
  if (error !== undefined) {
    throw new ConfigError(`${file}: not valid YAML at line ${lineCounter.linePos(error.pos[0]).line} (${error.code})`)
  }
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch {
    // An alias without its anchor, or too many of them; the message would quote the file.
    throw new ConfigError(`${file}: its YAML aliases cannot be resolved; write the values out`)
  }
}

function cluster(fields: JsonRecord, where: string, atFile: AtFile): KubeconfigCluster {
  return {
    server: optional(fields, 'server', where),
    certificateAuthority: atFile(optional(fields, 'certificate-authority', where)),
    certificateAuthorityData: optional(fields, 'certificate-authority-data', where),
    insecureSkipTlsVerify: flag(fields, 'insecure-skip-tls-verify', where),
    tlsServerName: optional(fields, 'tls-server-name', where),
    proxyUrl: optional(fields, 'proxy-url', where),
    disableCompression: flag(fields, 'disable-compression', where),
    execExtension: execExtension(fields, where),
    where,
  }
}

function user(fields: JsonRecord, where: string, atFile: AtFile, file: string): KubeconfigUser {
  const authProvider = fields['auth-provider']
  return {
    clientCertificate: atFile(optional(fields, 'client-certificate', where)),
    clientCertificateData: optional(fields, 'client-certificate-data', where),
    clientKey: atFile(optional(fields, 'client-key', where)),
    clientKeyData: optional(fields, 'client-key-data', where),
    token: optional(fields, 'token', where),
    tokenFile: atFile(optional(fields, 'tokenFile', where)),
    username: optional(fields, 'username', where),
    password: optional(fields, 'password', where),
    as: optional(fields, 'as', where),
    asUid: optional(fields, 'as-uid', where),
    asGroups: texts(fields, 'as-groups', where),
    asUserExtra: extra(fields, where),
    exec: exec(fields, where, file),
    authProvider: authProvider ? (optional(asFields(authProvider, where), 'name', where) ?? 'unnamed') : undefined,
    where,
  }
}

function context(fields: JsonRecord, where: string): KubeconfigContext {
  return {
    cluster: optional(fields, 'cluster', where),
    user: optional(fields, 'user', where),
    namespace: optional(fields, 'namespace', where),
    where,
  }
}

function exec(fields: JsonRecord, userWhere: string, file: string): KubeconfigExec | undefined {
  if (fields.exec === undefined || fields.exec === null) return undefined
  const where = `${userWhere}.exec`
  const plugin = asFields(fields.exec, where)
  const command = required(plugin, 'command', where)
  return {
    apiVersion: required(plugin, 'apiVersion', where),
    // A plain name is resolved with PATH; anything with a separator is a path, relative to this file.
    command: command.includes('/') && !isAbsolute(command) ? resolve(dirname(file), command) : command,
    args: texts(plugin, 'args', where),
    env: Object.fromEntries(
      listOf(plugin, 'env', where).map((entry) => {
        const pair = asFields(entry, `${where}.env`)
        return [required(pair, 'name', `${where}.env`), optional(pair, 'value', `${where}.env`) ?? '']
      }),
    ),
    installHint: optional(plugin, 'installHint', where),
    interactiveMode: optional(plugin, 'interactiveMode', where),
    provideClusterInfo: flag(plugin, 'provideClusterInfo', where),
    where,
  }
}

function execExtension(fields: JsonRecord, where: string): unknown {
  const found = listOf(fields, 'extensions', where)
    .map((entry) => asFields(entry, `${where}.extensions`))
    .find((entry) => entry.name === 'client.authentication.k8s.io/exec')
  return found?.extension
}

function extra(fields: JsonRecord, where: string): Readonly<Record<string, readonly string[]>> {
  const value = fields['as-user-extra']
  if (value === undefined || value === null) return {}
  const map = asFields(value, `${where}.as-user-extra`)
  return Object.fromEntries(Object.keys(map).map((key) => [key, texts(map, key, `${where}.as-user-extra`)]))
}

type AtFile = (path: string | undefined) => string | undefined

function named<V>(
  root: JsonRecord,
  listName: string,
  valueName: string,
  file: string,
  read: (fields: JsonRecord, where: string) => V,
): ReadonlyMap<string, V> {
  const found = new Map<string, V>()
  for (const entry of listOf(root, listName, file)) {
    const fields = asFields(entry, `${file}: ${listName}`)
    const name = required(fields, 'name', `${file}: ${listName}`)
    const where = `${file}: ${listName}[${name}].${valueName}`
    if (found.has(name)) throw new ConfigError(`${file}: ${listName} has two entries named "${name}"; remove one`)
    found.set(name, read(asFields(fields[valueName] ?? {}, where), where))
  }
  return found
}

function asFields(value: unknown, where: string): JsonRecord {
  if (isRecord(value)) return value
  throw new ConfigError(`${where} must be a mapping`)
}

function listOf(fields: JsonRecord, name: string, where: string): readonly unknown[] {
  const value = fields[name]
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw new ConfigError(`${where}.${name} must be a list`)
}

function optional(fields: JsonRecord, name: string, where: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw new ConfigError(`${where}.${name} must be a string; put it in quotes`)
}

function required(fields: JsonRecord, name: string, where: string): string {
  const value = optional(fields, name, where)
  if (value === undefined) throw new ConfigError(`${where}.${name} is missing`)
  return value
}

function texts(fields: JsonRecord, name: string, where: string): readonly string[] {
  return listOf(fields, name, where).map((value) => {
    if (typeof value === 'string') return value
    throw new ConfigError(`${where}.${name} must be a list of strings`)
  })
}

function flag(fields: JsonRecord, name: string, where: string): boolean {
  const value = fields[name]
  if (value === undefined || value === null) return false
  if (typeof value === 'boolean') return value
  throw new ConfigError(`${where}.${name} must be true or false`)
}
