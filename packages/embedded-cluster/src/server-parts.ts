/** Assembles the API server: store, verbs, admission, access control, custom resources. */
import { webcrypto as crypto } from 'node:crypto'
import { createBuiltInAdmission } from './admission/plugins.ts'
import { createPolicyAdmission } from './admission/policies/policies.ts'
import { PolicyTypeChecking } from './admission/policies/type-checking.ts'
import { createResourceQuotaAdmission } from './admission/resource-quota.ts'
import { WebhookClient } from './admission/webhook-client.ts'
import { createWebhookAdmission } from './admission/webhooks.ts'
import type { AdmissionPlugin } from './api/admission-plugin.ts'
import type { ClusterController } from './api/cluster-api.ts'
import { newUid } from './api/object-meta.ts'
import { systemUser } from './api/user.ts'
import { accessReviews } from './auth/access-reviews.ts'
import { Authenticator } from './auth/authenticate.ts'
import { authenticationReviews } from './auth/authentication-reviews.ts'
import { type Authorizer, alwaysAllow } from './auth/authorizer.ts'
import { ClusterRoleAggregation } from './auth/cluster-role-aggregation.ts'
import { RbacAuthorizer } from './auth/rbac.ts'
import { createEscalationCheck } from './auth/role-escalation.ts'
import { ServiceAccountTokens, type ServiceAccountTokensOptions } from './auth/service-account-tokens.ts'
import { createTokenIssuer } from './auth/token-request.ts'
import { convertBuiltin, isBuiltinConversion } from './builtin/conversions.ts'
import { strategyOf } from './builtin/strategies.ts'
import { type Clock, systemClock } from './clock.ts'
import type { EmbeddedClusterOptions } from './cluster-options.ts'
import { createPodCommands } from './controllers/pod-commands.ts'
import { createPodLogs } from './controllers/pod-logs.ts'
import { createPodPorts } from './controllers/pod-ports.ts'
import { Converter } from './crd/conversion.ts'
import { CustomResources } from './crd/custom-resources.ts'
import {
  DEFAULT_MAX_BUFFERED_EVENTS,
  DEFAULT_MAX_EVENT_AGE_MS,
  DEFAULT_MAX_EVENTS,
  DEFAULT_MAX_OBJECTS,
} from './defaults.ts'
import { EventExpiry } from './event-expiry.ts'
import { FaultInjector } from './faults/fault-injector.ts'
import { RequestLog } from './faults/request-log.ts'
import { HistoryExpiry } from './history-expiry.ts'
import { ApiServer } from './http/api-server.ts'
import { Paths } from './http/paths.ts'
import { Renderer } from './http/render.ts'
import { ResourceHandler } from './http/resource-handler.ts'
import type { JsonObject } from './json.ts'
import { createTablePrinter } from './printing/table.ts'
import { loadProtobufDecoder } from './protobuf/decoder.ts'
import { builtinKinds } from './registry/builtin-resources.ts'
import { apiVersionOf } from './registry/resource-info.ts'
import { ResourceRegistry } from './registry/resource-registry.ts'
import { ServiceAddresses } from './registry/service-addresses.ts'
import { adoptObject } from './rest/adopt.ts'
import { toVersion, type Converter as VersionConverter } from './rest/context.ts'
import { defaultObject } from './rest/decode-object.ts'
import { LocalApi } from './rest/local-api.ts'
import { ReadForms } from './rest/read-forms.ts'
import type { PodLogs, ServerContext, TokenIssuer, VirtualCreate } from './rest/server-context.ts'
import { WatchHub } from './rest/watch-hub.ts'
import { prune } from './schema/prune.ts'
import { Journal } from './store/journal.ts'
import { Store } from './store/store.ts'

/** The API server of one cluster and its parts. */
export interface ServerParts {
  readonly clock: Clock
  readonly random: () => number
  readonly store: Store
  readonly api: LocalApi
  readonly server: ApiServer
  readonly faults: FaultInjector
  readonly requests: RequestLog
  /** Controllers that are part of the API server, in the order to start them. */
  readonly controllers: readonly ClusterController[]
  readonly journal: Journal | undefined
  /** Stores an object from another cluster unchanged. */
  readonly adopt: (object: JsonObject) => Promise<void>
  /** Closes connections to webhooks and the files of the data directory. */
  readonly close: () => Promise<void>
}

/** Builds the server without starting anything. */
export function createServerParts(options: EmbeddedClusterOptions): ServerParts {
  const { clock = systemClock, random = secureRandom() } = options
  const randomUuid = () => newUid(random)
  const registry = new ResourceRegistry()
  const { schemaOf, resources } = builtinKinds()
  registry.addAll(resources)
  const journal = options.dataDir === undefined ? undefined : Journal.open(options.dataDir)
  const store = openStore(options, clock, journal)
  const history = new HistoryExpiry({
    store,
    clock,
    maxAgeMs: maxEventAgeMs(options),
    onError: (error) => options.onError?.(error, 'discarding old history'),
  })
  const hub = new WatchHub(store)
  const admission: AdmissionPlugin[] = []
  const virtualCreates = new Map<string, VirtualCreate>()
  // These need the API, which needs the context.
  const late: { converter?: VersionConverter; issueToken?: TokenIssuer; podLogs?: PodLogs } = {}
  const readForms = new ReadForms(registry)
  const context: ServerContext = {
    registry,
    store,
    clock,
    random,
    admission,
    converter: {
      async convert(objects, apiVersion, signal) {
        const converted = await requireSet(late.converter).convert(objects, apiVersion, signal)
        return converted.map((object, index) => (object === objects[index] ? object : readForms.converted(object)))
      },
    },
    readForms,
    serviceAddresses: allocatedAddresses(store, random),
    strategyOf,
    hub,
    history,
    schemaOf,
    maxBufferedEvents: options.maxBufferedEvents ?? DEFAULT_MAX_BUFFERED_EVENTS,
    virtualCreates,
    issueToken: (account, request, write) => requireSet(late.issueToken)(account, request, write),
    podLogs: (pod, logOptions) => requireSet(late.podLogs)(pod, logOptions),
    podPorts: createPodPorts(options.resolvePodPort),
    podCommands: createPodCommands((resource, namespace, name) => store.get(resource, `${namespace}/${name}`)?.object),
  }
  const api = new LocalApi(context)
  late.podLogs = options.podLogs ?? createPodLogs(api)
  const client = new WebhookClient({
    clock,
    ...(options.resolveService === undefined ? {} : { resolveService: options.resolveService }),
    ...(options.callWebhook === undefined ? {} : { callWebhook: options.callWebhook }),
  })
  const customResources = new CustomResources({
    api: new LocalApi(context, { fieldManager: 'kube-apiserver' }),
    registry,
    clock,
    onError: (error, definition) => options.onError?.(error, `custom resource ${definition}`),
  })
  late.converter = versionConverter(
    new Converter({
      client,
      randomUuid,
      definitionOfKind: (group, kind) => customResources.definitionOfKind(group, kind),
    }),
  )
  const rbac = options.authorization === 'AlwaysAllow' ? undefined : new RbacAuthorizer(api)
  const authorizer: Authorizer = rbac ?? alwaysAllow
  const tokens = openTokens(journal, { api, clock, randomUuid })
  late.issueToken = createTokenIssuer({ api, clock, tokens })
  const authenticator = new Authenticator({
    ...(options.tokens === undefined ? {} : { tokens: options.tokens }),
    verifiers: [(token) => tokens.verify(token)?.user],
    allowAnonymous: options.anonymousAuth ?? false,
  })
  const reviews = authenticationReviews({ authenticator, serviceAccountTokens: tokens, clock })
  for (const [resource, review] of [...accessReviews(authorizer), ...reviews]) virtualCreates.set(resource, review)
  const builtIns = createBuiltInAdmission({ api, clock, random })
  const webhooks = createWebhookAdmission({
    api,
    client,
    randomUuid,
    authorizer,
    reinvoked: builtIns,
    versionsOf: (name) => registry.versionsOf(name),
    convert: (object, to, signal) => toVersion(context, object, apiVersionOf(to), signal),
    settle: (object, resource) => defaultObject(context, resource, prune(resource.schema, object).object),
  })
  admission.push(...builtIns, customResources.admission)
  if (rbac !== undefined) admission.push(createEscalationCheck(rbac))
  const policies = createPolicyAdmission({
    api,
    randomUuid,
    authorizer,
    versionsOf: (name) => registry.versionsOf(name),
    convert: (object, to, signal) => toVersion(context, object, apiVersionOf(to), signal),
  })
  admission.push(policies, webhooks, createResourceQuotaAdmission({ api, clock }))
  const faults = new FaultInjector(hub)
  const requests = new RequestLog()
  const server = new ApiServer({
    context,
    resources: new ResourceHandler(context, new Renderer(context, createTablePrinter(clock)), loadProtobufDecoder()),
    paths: new Paths(registry, store, {
      '/openid/v1/jwks': () => tokens.jwks(),
      '/.well-known/openid-configuration': () => tokens.openidConfiguration(tokens.issuer),
    }),
    authenticator,
    authorizer,
    inProcessUser: systemUser,
    faults,
    requests,
  })
  return {
    clock,
    random,
    store,
    api,
    server,
    faults,
    requests,
    controllers: [
      customResources,
      new EventExpiry(store, clock),
      history,
      new PolicyTypeChecking({
        api,
        lookup: (group, version, plural) => registry.lookup(group, version, plural),
        onError: (error, policy) => options.onError?.(error, `type checking ${policy}`),
      }),
      ...(rbac === undefined ? [] : [new ClusterRoleAggregation({ api, clock })]),
    ],
    journal,
    adopt: (object) => adoptObject(context, object),
    close: async () => {
      policies.close()
      webhooks.close()
      await client.close()
      journal?.close()
    },
  }
}

function maxEventAgeMs(options: EmbeddedClusterOptions): number {
  return options.eventWindow?.maxAgeMs ?? DEFAULT_MAX_EVENT_AGE_MS
}

/** A store with the content of the data directory. */
function openStore(options: EmbeddedClusterOptions, clock: Clock, journal: Journal | undefined): Store {
  const store = new Store({
    clock,
    window: {
      maxEvents: options.eventWindow?.maxEvents ?? DEFAULT_MAX_EVENTS,
      maxAgeMs: maxEventAgeMs(options),
    },
    maxObjects: options.maxObjects ?? DEFAULT_MAX_OBJECTS,
    ...(journal === undefined ? {} : { journal: (record) => journal.append(record) }),
  })
  if (journal === undefined) return store
  for (const record of journal.read()) store.restore(record)
  journal.compact(store.revision, store.live())
  store.listenToAll(() => {
    if (journal.isDue) journal.compact(store.revision, store.live())
  })
  return store
}

/** Signs with the key in the data directory, so that tokens stay valid after a restart. */
function openTokens(journal: Journal | undefined, options: ServiceAccountTokensOptions): ServiceAccountTokens {
  const privateKey = journal?.readFile(SERVICE_ACCOUNT_KEY)
  const tokens = new ServiceAccountTokens({ ...options, ...(privateKey === undefined ? {} : { privateKey }) })
  if (privateKey === undefined) journal?.writeFile(SERVICE_ACCOUNT_KEY, tokens.privateKey)
  return tokens
}

const SERVICE_ACCOUNT_KEY = 'service-account.key'

/** The addresses and ports of stored Services. */
function allocatedAddresses(store: Store, random: () => number): ServiceAddresses {
  const addresses = new ServiceAddresses(random)
  for (const { object } of store.range('services')) addresses.adopt(object)
  return addresses
}

function versionConverter(custom: Converter): VersionConverter {
  return {
    convert: async (objects, apiVersion, signal) =>
      isBuiltinConversion(apiVersion)
        ? objects.map((object) => convertBuiltin(object, apiVersion))
        : custom.convert(objects, apiVersion, signal),
  }
}

function requireSet<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the cluster is used before it is assembled')
  return value
}

/**
 * Numbers in [0, 1) from the system's secure source, generated in blocks because one call per number would dominate the
 * cost of uids.
 */
function secureRandom(): () => number {
  let block = new Uint32Array(0)
  let next = 0
  return () => {
    if (next >= block.length) {
      block = crypto.getRandomValues(new Uint32Array(256))
      next = 0
    }
    const value = block[next] ?? 0
    next += 1
    return value / 2 ** 32
  }
}
