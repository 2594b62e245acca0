/** Does what a step of a scenario file says. */
import { isRecord, sleep } from '@reeve/http'
import { isApiError, isNotFound, type KubeObject } from '@reeve/kube'
import type { PlainObject, User } from '../operator-under-test.ts'
import { ScenarioError } from './scenario-fields.ts'
import type { GivenObject } from './scenario-file.ts'
import type { Action } from './scenario-steps.ts'

const POLL_MS = 100

/** How long users wait at least, for a webhook that can be called and for a condition. */
const MIN_PATIENCE_MS = 60_000

/** How users wait. */
export interface UserPatience {
  /** How long the operator may take to recover from a fault. */
  readonly patienceMs: number
  readonly signal: AbortSignal | undefined
}

interface Waiting {
  readonly timeoutMs: number
  poll(): Promise<void>
}

/** Performs it as a user, who tries again when a webhook of the operator cannot be called. */
export async function performAction(action: Action, user: User, { patienceMs, signal }: UserPatience): Promise<void> {
  const { client } = user
  const waiting: Waiting = {
    timeoutMs: Math.max(MIN_PATIENCE_MS, patienceMs),
    poll: () => sleep(POLL_MS, signal && { signal }),
  }
  const patch = async (object: GivenObject, change: PlainObject) => {
    const resource = await client.resourceFor(object)
    await whileWebhooksStart(() => client.patch(resource, keyOf(object), { type: 'merge', patch: change }), waiting)
  }
  switch (action.type) {
    case 'apply':
      for (const object of action.objects) await whileWebhooksStart(() => user.put(object), waiting)
      return
    case 'patch':
      for (const object of action.objects) await patch(object, patchOf(object))
      return
    case 'delete':
      for (const object of action.objects) {
        const resource = await client.resourceFor(object)
        await whileWebhooksStart(() => client.delete(resource, keyOf(object)), waiting)
      }
      return
    case 'scale':
      await patch(action.object, { spec: { replicas: action.replicas } })
      return
    case 'wait':
      await waitFor(action, user, waiting)
  }
}

/** The operator that serves the webhooks may have been killed, and not have started again. */
async function whileWebhooksStart(request: () => Promise<unknown>, { timeoutMs, poll }: Waiting): Promise<void> {
  const deadline = performance.now() + timeoutMs
  const isToRepeat = async (error: unknown) => {
    const isAway = isApiError(error) && error.status === 500 && error.message.includes('failed calling webhook')
    if (!isAway || performance.now() > deadline) throw error
    await poll()
    return true
  }
  while (await request().then(() => false, isToRepeat));
}

/** Everything but what names the object. */
function patchOf({ apiVersion, kind, metadata, ...rest }: GivenObject): PlainObject {
  const { name, namespace, ...others } = metadata as PlainObject
  return { ...rest, ...(Object.keys(others).length > 0 && { metadata: others }) }
}

function keyOf({ metadata: { name = '', namespace } }: KubeObject) {
  return { name, ...(namespace !== undefined && { namespace }) }
}

async function waitFor(
  { object, condition }: Extract<Action, { type: 'wait' }>,
  { client }: User,
  { timeoutMs, poll }: Waiting,
): Promise<void> {
  const resource = await client.resourceFor(object)
  const deadline = performance.now() + timeoutMs
  while (performance.now() < deadline) {
    const found = await client.get(resource, keyOf(object)).catch((error: unknown) => {
      // It may be an object of the operator, which has not created it yet.
      if (!isNotFound(error)) throw error
    })
    const { status } = (found ?? {}) as { readonly status?: unknown }
    const conditions = isRecord(status) && Array.isArray(status.conditions) ? status.conditions : []
    if (conditions.some((one: unknown) => isRecord(one) && one.type === condition && one.status === 'True')) return
    await poll()
  }
  const { kind, metadata } = object
  throw new ScenarioError(
    `the condition ${condition} of ${kind} ${metadata.name} is not true within ${timeoutMs / 1_000} s`,
  )
}
