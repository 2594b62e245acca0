/** The bill of materials of an image, as CycloneDX JSON. */
import { createHash } from 'node:crypto'
import type { PinnedPackages } from './debian-packages.ts'

/** The part of a package lock that says which packages a workspace needs. */
export interface PackageLock {
  readonly packages: Readonly<Record<string, LockEntry>>
}

interface LockEntry {
  readonly name?: string
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
  readonly link?: boolean
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** What goes into an image. */
export interface Materials {
  readonly name: string
  readonly version: string
  readonly workspace: string
  readonly lock: PackageLock
  readonly nodeVersion: string
  readonly debian: PinnedPackages
  readonly helmVersion?: string
}

interface Component {
  readonly type: string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses?: readonly object[]
  readonly hashes?: readonly object[]
}

/** The document, which depends on the materials only. */
export function billOfMaterials(materials: Materials): string {
  const { name, version, nodeVersion, debian, helmVersion } = materials
  const components = [
    component('application', 'node', nodeVersion, `pkg:generic/node@${nodeVersion}`, 'MIT'),
    ...(helmVersion === undefined
      ? []
      : [component('application', 'helm', helmVersion, `pkg:golang/helm.sh/helm@${helmVersion}`, 'Apache-2.0')]),
    ...Object.entries(debian).map(([each, pin]) =>
      component('library', each, pin.version, `pkg:deb/debian/${each}@${encodeURIComponent(pin.version)}`),
    ),
    ...npmComponents(materials),
  ]
  const body = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: component('application', name, version, `pkg:oci/${name}@${version}`, 'Apache-2.0') },
    components,
  }
  return `${JSON.stringify({ ...body, serialNumber: serialNumber(JSON.stringify(body)) }, undefined, 2)}\n`
}

/** The production dependencies of the workspace, those of other workspaces included. */
function npmComponents({ lock, workspace }: Materials): readonly Component[] {
  const found = new Map<string, Component>()
  const waiting = [workspace]
  const seen = new Set<string>()
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const entry = lock.packages[path]
    if (entry === undefined || seen.has(path)) continue
    seen.add(path)
    if (entry.link && entry.resolved !== undefined) {
      waiting.push(entry.resolved)
      continue
    }
    const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    if (path !== workspace) found.set(`${name}@${entry.version}`, npmComponent(name, entry))
    for (const needed of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) {
      const installed = nearest(lock, path, needed)
      if (installed !== undefined) waiting.push(installed)
    }
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
}

/** Where Node would find a package from the folder of another. */
function nearest({ packages }: PackageLock, from: string, name: string): string | undefined {
  const parts = from.split('/')
  for (let length = parts.length; length >= 0; length -= 1) {
    const path = [...parts.slice(0, length), 'node_modules', name].join('/')
    if (Object.hasOwn(packages, path)) return path
  }
  return undefined
}

function npmComponent(name: string, { version = '', license, integrity }: LockEntry): Component {
  const [, hash] = /^sha512-(.+)$/.exec(integrity ?? '') ?? []
  return {
    ...component('library', name, version, `pkg:npm/${name.replace('@', '%40')}@${version}`, license),
    ...(hash && { hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }] }),
  }
}

function component(type: string, name: string, version: string, purl: string, license?: string): Component {
  return { type, name, version, purl, ...(license && { licenses: [{ expression: license }] }) }
}

/** A UUID that follows from the content, so that the same image has the same document. */
function serialNumber(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
