/** Writes release records the way Helm does. */
import { gzipSync } from 'node:zlib'
import type { Secret } from '@reeve/kube'
import { RELEASE_SECRET_TYPE } from '../release/decode-release.ts'
import type { Release } from '../release/release.ts'

/** The fields of a release record; the others are as after a first install. */
export type RecordedRelease = Pick<Release, 'namespace' | 'name'> & Partial<Release>

/**
 * The name of the Secret of a revision.
 *
 * @example
 * releaseSecretName('web', 3) // sh.helm.release.v1.web.v3
 */
export function releaseSecretName(name: string, revision: number): string {
  return `sh.helm.release.v1.${name}.v${revision}`
}

/**
 * The record Secret of a release.
 *
 * @example
 * await client.create(Secrets, encodeRelease({ namespace: 'tenant-a', name: 'web', status: 'pending-install' }))
 */
export function encodeRelease(release: RecordedRelease): Secret {
  const { namespace, name, revision = 1, status = 'deployed', labels = {}, values, manifest = '', hooks = [] } = release
  const record = {
    name,
    info: {
      ...(release.firstDeployed !== undefined && { first_deployed: release.firstDeployed }),
      ...(release.lastDeployed !== undefined && { last_deployed: release.lastDeployed }),
      description: release.description ?? 'Install complete',
      status,
    },
    chart: { metadata: release.chart ?? { name: 'demo', version: '1.0.0' }, templates: [] },
    ...(values !== undefined && { config: values }),
    manifest,
    ...(hooks.length > 0 && { hooks: hooks.map((text) => ({ manifest: text })) }),
    version: revision,
    namespace,
  }
  const packed = gzipSync(JSON.stringify(record)).toString('base64')
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace,
      name: releaseSecretName(name, revision),
      labels: { ...labels, owner: 'helm', name, status, version: String(revision) },
    },
    type: RELEASE_SECRET_TYPE,
    data: { release: Buffer.from(packed).toString('base64') },
  }
}
