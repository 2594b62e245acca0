/** What the components of an EdgeConnect have in common. */
import { randomBytes } from 'node:crypto'
import type { RegistryClient, RegistryClientOptions } from '@reeve/oci'
import type { Component } from '@reeve/runtime'
import type { ResolveContext } from '@reeve/runtime/components'
import type { EdgeConnect } from '../../api/latest.ts'
import type { PlatformClient, PlatformClientOptions } from '../../tenant/client/platform/platform-client.ts'
import { NamespaceView } from '../references/namespace-view.ts'
import { ReferenceNotFoundError } from '../references/reference-error.ts'
import { CLIENT_KEYS } from './components/registration/provision.ts'

/** What reconciling EdgeConnects needs besides the cluster. */
export interface EdgeConnectOptions {
  /** Identifies the cluster: the UID of its namespace kube-system. */
  readonly clusterId: string
  /** @default a client with its own connections */
  readonly openPlatform?: (options: PlatformClientOptions) => PlatformClient
  /** @default a client with its own connections */
  readonly openRegistry?: (options: RegistryClientOptions) => RegistryClient
  /** Unpredictable bytes. @default those of `node:crypto` */
  readonly randomBytes?: (count: number) => Uint8Array
}

/** A component of an EdgeConnect. */
export type EdgeConnectComponent<Facts = undefined> = Component<EdgeConnect, Facts, EdgeConnectOptions>

/** What its `resolve` works with. */
export type EdgeConnectContext = ResolveContext<EdgeConnect, EdgeConnectOptions>

/** What the cache shows of the namespace of an EdgeConnect. */
export const viewOf = ({ cache, primary }: Pick<EdgeConnectContext, 'cache' | 'primary'>): NamespaceView =>
  new NamespaceView(cache, primary.metadata.namespace ?? '')

/** The client of the user. *Errors*: {@link ReferenceNotFoundError} naming the Secret and its keys. */
export function userClient(context: EdgeConnectContext): { readonly id: string; readonly secret: string } {
  const name = context.primary.spec.oauth.clientSecret
  const view = viewOf(context)
  const { [CLIENT_KEYS.id]: id, [CLIENT_KEYS.secret]: secret } = view.secret(name) ?? {}
  if (id && secret) return { id, secret }
  const where = `spec.oauth.clientSecret: the Secret ${view.namespace}/${name}`
  throw new ReferenceNotFoundError(`${where} needs the keys ${CLIENT_KEYS.id} and ${CLIENT_KEYS.secret}`)
}

/** Where tokens that the operator makes up come from. */
export const bytesOf = ({ dependencies }: EdgeConnectContext) => dependencies.randomBytes ?? randomBytes
