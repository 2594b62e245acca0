/** What happens to one EdgeConnect: an image, a client in the environment, a configuration and a Deployment. */
import { randomBytes } from 'node:crypto'
import { Deployments, isApiError, isNotFound, Secrets, type Stored } from '@reeve/kube'
import { createRegistryClient, type RegistryClient, type RegistryClientOptions } from '@reeve/oci'
import {
  AcceptedDifferences,
  applyPlan,
  type Condition,
  type DesiredObject,
  desired,
  FieldTreePool,
  formatTime,
  hasFinalizer,
  isJsonEqual,
  planDesired,
  type Reconcile,
  type ReconcileRequest,
  type ReconcileResult,
  RuntimeError,
  StaleViewError,
  setCondition,
  withFinalizer,
  writeStatus,
} from '@reeve/runtime'
import { parse } from 'yaml'
import {
  clientSecretName,
  configSecretName,
  hasKubernetesAutomation,
  isProvisioner,
} from '../../api/edgeconnect/edgeconnect-facts.ts'
import { type EdgeConnect, type EdgeConnectStatus, EdgeConnects } from '../../api/latest.ts'
import { EnvironmentApiError, EnvironmentUnreadableError } from '../../environment/client/errors.ts'
import {
  createPlatformClient,
  type PlatformClient,
  type PlatformClientOptions,
} from '../../environment/client/platform/platform-client.ts'
import { FIELD_MANAGER } from '../dynakube/apply.ts'
import { NamespaceView } from '../dynakube/namespace-view.ts'
import { makeToken } from '../dynakube/resolve/generated.ts'
import { ReferenceNotFoundError } from '../dynakube/resolve/referenced.ts'
import { encodeSecret } from '../secret-data.ts'
import { CONFIG_FILE, type EdgeConnectMaterial } from './config-file.ts'
import { resolveImage } from './image.ts'
import {
  CLIENT_KEYS,
  connectAutomation,
  deprovision,
  disconnectAutomation,
  ForeignEdgeConnectError,
  type ProvisionedClient,
  provision,
  storedClient,
} from './provision.ts'
import { renderEdgeConnect } from './render.ts'

/** Keeps an EdgeConnect until the environment forgot it. The name is that of earlier releases. */
export const FINALIZER = 'server'

const REQUEUE_MS = 30 * 60_000

/** The kinds that an EdgeConnect owns. */
export const OWNED = [Secrets, Deployments] as const

const CONDITION = 'SecretConfigConditionType'

/** The reason of the event about an EdgeConnect that stays behind in its environment. */
const NOT_REMOVED = 'EdgeConnectNotRemoved'

/** What reconciling EdgeConnects needs besides the cluster. */
export interface EdgeConnectOptions {
  /** Identifies the cluster: the UID of its namespace kube-system. */
  readonly clusterId: string
  /** @default a client with its own connections */
  readonly openPlatform?: (options: PlatformClientOptions) => PlatformClient
  /** @default a client with its own connections */
  readonly openRegistry?: (options: RegistryClientOptions) => RegistryClient
  /** Bytes that nobody can guess. @default the machine's */
  readonly randomBytes?: (count: number) => Uint8Array
}

/**
 * The reconcile function of EdgeConnects.
 *
 * *Guarantees*: may be cut after any write and run again; an EdgeConnect that was made in the environment is removed
 * there before the resource goes.
 *
 * @example
 * controller({ name: 'edgeconnect', for: EdgeConnects, owns: OWNED, reconcile: edgeConnectReconcile({ clusterId }) })
 */
export function edgeConnectReconcile(options: EdgeConnectOptions): Reconcile<EdgeConnect> {
  const memory = { trees: new FieldTreePool(), accepted: new AcceptedDifferences() }
  return async (request) => {
    const { object, client, signal } = request
    if (object === undefined) return {}
    const look = (seen: Stored<EdgeConnect>) => new EdgeConnectPass(options, memory, request, seen)
    const isFinal = object.metadata.deletionTimestamp !== undefined
    if (!isProvisioner(object) && !(isFinal && hasFinalizer(object, FINALIZER))) {
      return isFinal ? {} : look(object).run()
    }
    const result = await withFinalizer(object, {
      client,
      resource: EdgeConnects,
      finalizer: FINALIZER,
      signal,
      reconcile: (seen) => look(seen).run(),
      cleanup: (seen) => look(seen).cleanUp(),
    })
    return result ?? {}
  }
}

interface Memory {
  readonly trees: FieldTreePool
  readonly accepted: AcceptedDifferences
}

/** One look at one EdgeConnect. */
class EdgeConnectPass {
  readonly #options: EdgeConnectOptions
  readonly #memory: Memory
  readonly #request: ReconcileRequest<EdgeConnect>
  readonly #object: Stored<EdgeConnect>
  readonly #view: NamespaceView
  #status: EdgeConnectStatus

  constructor(
    options: EdgeConnectOptions,
    memory: Memory,
    request: ReconcileRequest<EdgeConnect>,
    object: Stored<EdgeConnect>,
  ) {
    this.#options = options
    this.#memory = memory
    this.#request = request
    this.#object = object
    this.#view = new NamespaceView(request.cache, object.metadata.namespace ?? '')
    this.#status = object.status ?? {}
  }

  async run(): Promise<ReconcileResult> {
    let failure: Error | undefined
    try {
      await this.#work()
    } catch (error) {
      this.#request.signal.throwIfAborted()
      if (!(error instanceof Error) || error instanceof StaleViewError) throw error
      failure = error
    }
    await this.#report(failure)
    if (failure === undefined) return { requeueAfterMs: REQUEUE_MS }
    if (!(failure instanceof ForeignEdgeConnectError)) throw failure
    // Nothing broke, and only people can settle it: there is no use in asking again soon.
    this.#request.logger.warn({ err: failure }, 'an EdgeConnect of somebody else is left alone')
    return { requeueAfterMs: REQUEUE_MS }
  }

  /**
   * Removes the EdgeConnect from the environment. Without the user's client nothing can be removed there, now or later:
   * the resource is let go instead of being held for ever, and an event tells what is left behind.
   */
  async cleanUp(): Promise<'done'> {
    try {
      await this.#disconnectIfOff()
      await using platform = this.#openPlatform()
      await deprovision(this.#edgeConnect, { ...this.#context, platform })
    } catch (error) {
      if (!(error instanceof ReferenceNotFoundError)) throw error
      const message = `the environment keeps the EdgeConnect ${this.#object.metadata.name}; ${error.message}`
      this.#request.events.record(this.#object, { type: 'Warning', reason: NOT_REMOVED, message })
      this.#request.logger.warn({ err: error }, 'an EdgeConnect stays behind in its environment')
    }
    return 'done'
  }

  /** With the status as it is known by now. */
  get #edgeConnect(): EdgeConnect {
    return { ...this.#object, status: this.#status }
  }

  get #context() {
    const { client, logger, signal } = this.#request
    return { view: this.#view, client, logger, signal }
  }

  async #work(): Promise<void> {
    const { clock, logger, signal } = this.#request
    const openRegistry = this.#options.openRegistry ?? createRegistryClient
    this.#status = { ...this.#status, kubeSystemUID: this.#options.clusterId }
    const version = await resolveImage(this.#edgeConnect, { view: this.#view, clock, logger, signal, openRegistry })
    this.#status = { ...this.#status, version }
    if (isProvisioner(this.#edgeConnect)) await this.#provisioned()
    else await this.#apply(this.#regularMaterial(), [])
    this.#setCondition('True', 'SecretCreated', `${configSecretName(this.#object)} created`)
  }

  async #provisioned(): Promise<void> {
    await this.#disconnectIfOff()
    const known = storedClient(this.#edgeConnect, this.#view)
    // What is lost in the cluster comes back from what is known, also while the environment is away.
    const deployed = known && (await this.#deploy(known))
    await using platform = this.#openPlatform()
    const context = { ...this.#context, platform }
    const client = await provision(this.#edgeConnect, context)
    const isKnown = client.edgeConnectId === known?.edgeConnectId
    const { automationToken = '' } = isKnown && deployed ? deployed : await this.#deploy(client)
    if (hasKubernetesAutomation(this.#edgeConnect)) {
      await connectAutomation(this.#edgeConnect, automationToken, context)
    }
  }

  /**
   * Automation that was switched off is forgotten by the environment while the file still has its token: a pass that is
   * cut does it again. A client that may not touch settings any more leaves the setting behind: nobody could remove it.
   */
  async #disconnectIfOff(): Promise<void> {
    if (hasKubernetesAutomation(this.#object) || this.#storedToken === undefined) return
    await using platform = this.#openPlatform({ hasKubernetesAutomation: true })
    try {
      await disconnectAutomation(this.#edgeConnect, { ...this.#context, platform })
    } catch (error) {
      if (!isRefusedForGood(error)) throw error
      this.#request.logger.warn({ err: error }, 'a connection for automation stays behind in the environment')
    }
  }

  async #deploy(client: ProvisionedClient): Promise<EdgeConnectMaterial> {
    const material = { oauthClient: client, ...this.#proxyUser(), ...this.#automation() }
    await this.#apply(material, [this.#clientSecret(client)])
    return material
  }

  #regularMaterial(): EdgeConnectMaterial {
    const { id, secret } = this.#userClient()
    const { resource } = this.#object.spec.oauth
    return { oauthClient: { id, secret, resource }, ...this.#proxyUser(), ...this.#automation() }
  }

  #userClient(): { readonly id: string; readonly secret: string } {
    const name = this.#object.spec.oauth.clientSecret
    const data = this.#view.secret(name) ?? {}
    const { [CLIENT_KEYS.id]: id, [CLIENT_KEYS.secret]: secret } = data
    if (id && secret) return { id, secret }
    const where = `spec.oauth.clientSecret: the Secret ${this.#view.namespace}/${name}`
    throw new ReferenceNotFoundError(`${where} needs the keys ${CLIENT_KEYS.id} and ${CLIENT_KEYS.secret}`)
  }

  #proxyUser(): Pick<EdgeConnectMaterial, 'proxyUser'> {
    const name = this.#object.spec.proxy?.authRef
    if (!name) return {}
    const { user, password } = this.#view.secret(name) ?? {}
    if (user !== undefined && password !== undefined) return { proxyUser: { user, password } }
    const where = `spec.proxy.authRef: the Secret ${this.#view.namespace}/${name}`
    throw new ReferenceNotFoundError(`${where} needs the keys user and password`)
  }

  get #storedToken(): string | undefined {
    return storedToken(this.#view.secret(configSecretName(this.#object))?.[CONFIG_FILE])
  }

  /** The token of an earlier pass, or a new one. */
  #automation(): Pick<EdgeConnectMaterial, 'automationToken'> {
    if (!hasKubernetesAutomation(this.#object)) return {}
    return { automationToken: this.#storedToken ?? makeToken('dt0e01', this.#options.randomBytes ?? randomBytes) }
  }

  #clientSecret(client: ProvisionedClient): DesiredObject {
    return desired(Secrets, {
      metadata: { namespace: this.#object.metadata.namespace, name: clientSecretName(this.#object) },
      data: encodeSecret({
        [CLIENT_KEYS.id]: client.id,
        [CLIENT_KEYS.secret]: client.secret,
        [CLIENT_KEYS.resource]: client.resource,
        [CLIENT_KEYS.edgeConnectId]: client.edgeConnectId,
      }),
    })
  }

  #openPlatform(options: Pick<PlatformClientOptions, 'hasKubernetesAutomation'> = {}): PlatformClient {
    const { apiServer, oauth, caCertsRef } = this.#object.spec
    const { id, secret } = this.#userClient()
    const { clock, logger } = this.#request
    return (this.#options.openPlatform ?? createPlatformClient)({
      apiServer,
      oauth: { endpoint: oauth.endpoint, clientId: id.trim(), clientSecret: secret.trim() },
      hasKubernetesAutomation: hasKubernetesAutomation(this.#object),
      ...options,
      ...(caCertsRef && { trustedCertificates: this.#certificates(caCertsRef) }),
      clock,
      logger,
    })
  }

  #certificates(name: string): string {
    const { certs } = this.#view.configMap(name) ?? {}
    if (certs) return certs
    const where = `spec.caCertsRef: the ConfigMap ${this.#view.namespace}/${name}`
    throw new ReferenceNotFoundError(`${where} has no key certs with certificates; add it`)
  }

  async #apply(material: EdgeConnectMaterial, first: readonly DesiredObject[]): Promise<void> {
    const { client, cache, signal } = this.#request
    // What the environment shows only once is written before anything else can fail.
    const objects = [...first, ...renderEdgeConnect({ edgeConnect: this.#edgeConnect, material })]
    const shared = { owner: this.#object, fieldManager: FIELD_MANAGER, ...this.#memory }
    const actions = planDesired({ ...shared, desired: objects, kinds: OWNED, view: cache })
    await applyPlan({ ...shared, client, view: cache, actions, conflicts: 'force', signal })
  }

  #setCondition(status: 'True' | 'False', reason: string, message: string): void {
    // The schema leaves more open than is ever written.
    const before = (this.#status.conditions ?? []) as readonly Condition[]
    const conditions = setCondition(before, { type: CONDITION, status, reason, message }, this.#request.clock)
    this.#status = { ...this.#status, conditions: conditions.map((condition) => ({ ...condition })) }
  }

  async #report(failure: Error | undefined): Promise<void> {
    const { client, clock, signal } = this.#request
    if (failure !== undefined) {
      // The engine's own errors are about objects in the cluster, too.
      const isOfCluster = isApiError(failure) || failure instanceof RuntimeError
      const reason = isOfCluster ? 'KubeApiError' : 'SecretGenerationFailed'
      this.#setCondition('False', reason, failure.message)
    }
    const isBroken = failure !== undefined && !(failure instanceof ForeignEdgeConnectError)
    this.#status = { ...this.#status, phase: isBroken ? 'Error' : this.#phase() }
    if (isJsonEqual(this.#object.status ?? {}, this.#status)) return
    const status = { ...this.#status, updatedTimestamp: formatTime(clock.now()) }
    try {
      await writeStatus(client, EdgeConnects, this.#object, status, { signal, fieldManager: FIELD_MANAGER })
    } catch (error) {
      // Deleted meanwhile: there is nobody to tell.
      if (!isNotFound(error)) throw error
    }
  }

  #phase(): 'Running' | 'Deploying' {
    const { name, namespace = '' } = this.#object.metadata
    const { spec, status } = this.#request.cache.get(Deployments, { namespace, name }) ?? {}
    return spec !== undefined && (spec.replicas ?? 1) === (status?.readyReplicas ?? 0) ? 'Running' : 'Deploying'
  }
}

/** Whether a client lacks a right: asking again would not help. */
function isRefusedForGood(error: unknown): boolean {
  const isRefusal = error instanceof EnvironmentApiError || error instanceof EnvironmentUnreadableError
  return isRefusal && (error.status === 400 || error.status === 403)
}

/** The token in a file that an earlier pass wrote; `undefined` when there is none, or the file is spoilt. */
function storedToken(file: string | undefined): string | undefined {
  try {
    const { secrets } = (parse(file ?? '') ?? {}) as { readonly secrets?: readonly { readonly token?: unknown }[] }
    const token = secrets?.[0]?.token
    return typeof token === 'string' && token !== '' ? token : undefined
  } catch {
    return undefined
  }
}
