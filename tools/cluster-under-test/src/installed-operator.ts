/** An operator that a chart has installed, run by a test: no node here starts its container. */
import type { ClusterUnderTest } from './cluster-under-test.ts'
import type { RawResponse } from './raw-client.ts'

type Target = Pick<ClusterUnderTest, 'raw'>

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1'
/** How often a write is repeated that conflicts with one of the operator. */
const ATTEMPTS = 20

/** Where an API server finds a webhook: the origin, and the PEM of its authority if the operator does not write it. */
export interface WebhookServerAddress {
  readonly origin: string
  readonly authority?: string
}

/** A token of a ServiceAccount, as its pods get one. */
export async function accountToken({ raw }: Target, namespace: string, account: string): Promise<string> {
  const response = await raw.send({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  })
  return expectSuccess(response).json<{ readonly status: { readonly token: string } }>().status.token
}

/** Runs a manager until the stack is disposed. */
export function runManager(
  manager: { run(signal: AbortSignal): Promise<void> },
  started: Pick<AsyncDisposableStack, 'defer'>,
): void {
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  // A failure shows when it is stopped; until then it must not be unhandled.
  running.catch(() => undefined)
  started.defer(async () => {
    stop.abort()
    await running
  })
}

interface Webhook {
  readonly clientConfig: WebhookClientConfig
}

interface WebhookClientConfig {
  readonly service?: { readonly path?: string }
  readonly caBundle?: string
}

/**
 * Has both webhook configurations of this name call `address` instead of a Service, to which no network leads here.
 *
 * @example
 * await redirectWebhooks(cluster, 'webapp', { origin: 'https://127.0.0.1:9443' })
 */
export async function redirectWebhooks(cluster: Target, name: string, address: WebhookServerAddress): Promise<void> {
  for (const kind of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']) {
    await edit<{ readonly webhooks?: readonly Webhook[] }>(cluster, `${REGISTRATION}/${kind}/${name}`, (live) => ({
      ...live,
      webhooks: (live.webhooks ?? []).map((webhook) => ({ ...webhook, clientConfig: redirected(webhook, address) })),
    }))
  }
}

interface Definition {
  readonly spec: { readonly conversion?: { readonly webhook?: Webhook } }
}

/** The same for the conversion webhook of a CustomResourceDefinition. */
export async function redirectConversion(cluster: Target, crd: string, address: WebhookServerAddress): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd}`
  await edit<Definition>(cluster, path, ({ spec: { conversion, ...spec }, ...live }) => {
    const webhook = conversion?.webhook && {
      ...conversion.webhook,
      clientConfig: redirected(conversion.webhook, address),
    }
    return { ...live, spec: { ...spec, conversion: { ...conversion, webhook } } }
  })
}

function redirected({ clientConfig }: Webhook, { origin, authority }: WebhookServerAddress): object {
  const caBundle = authority === undefined ? clientConfig.caBundle : Buffer.from(authority).toString('base64')
  return { url: `${origin}${clientConfig.service?.path ?? ''}`, ...(caBundle && { caBundle }) }
}

/** Reads, changes and replaces an object; not if it does not exist. */
async function edit<T>({ raw }: Target, path: string, change: (live: T) => object): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const live = await raw.send({ path })
    if (live.status === 404) return
    const written = await raw.send({ method: 'PUT', path, body: change(expectSuccess(live).json<T>()) })
    // The operator may write its CA bundle at the same time.
    if (written.status !== 409 || attempt === ATTEMPTS) return void expectSuccess(written)
  }
}

function expectSuccess(response: RawResponse): RawResponse {
  if (response.status >= 300) throw new Error(`the cluster responded with ${response.status}: ${response.text}`)
  return response
}
